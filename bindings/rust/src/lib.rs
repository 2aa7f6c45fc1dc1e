// SPDX-License-Identifier: MIT
//! Many files in one call, on Linux: their attributes, their contents, and the entries of a tree.
//!
//! Crossing from a program into the kernel is expensive.  The C library `ferry`, which is compiled
//! into this crate, needs few crossings for each file and none of `std::fs`'s work around them:
//! no path is built, no string copied and no memory allocated for an entry of a tree, and
//! directories are read by several threads.
//!
//! | call | does |
//! | --- | --- |
//! | [`Walk`] | passes all entries of a tree to a closure, a [`Block`] at a time |
//! | [`stat_many`], [`lstat_many`] | look up the attributes of many files |
//! | [`read_each`], [`read_parallel`] | pass the contents of many files to a closure, and read ahead |
//!
//! An error of one file is the result of that file and stops nothing.  A panic in a closure ends the
//! call and goes on in the thread that made the call.  Any thread may make any call; a thread of
//! the library never outlives the borrow of what it works on.
#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]
#![cfg(target_os = "linux")]

mod attributes;
mod end;
mod names;
mod options;
mod read_each;
mod sys;
mod walk;

pub use attributes::{lstat_many, stat_many, Attributes, Fields, FileType};
pub use options::{Cancel, Options};
pub use read_each::{read_each, read_parallel, Reading};
pub use walk::{Block, Entries, Entry, Walk};
