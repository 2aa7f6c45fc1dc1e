// SPDX-License-Identifier: MIT
//! `<ferry_files.h>` and `struct statx`, as `layout.c` checks them against the C compiler's.
use std::cell::Cell;
use std::os::raw::{c_char, c_int, c_long, c_uint, c_ulong, c_void};

pub const AT_FDCWD: c_int = -100;
pub const AT_SYMLINK_NOFOLLOW: c_int = 0x100;

pub const READ_DEVICES: c_uint = 0x1;
pub const READ_OPEN_FIRST: c_uint = 0x2;
pub const READ_IN_ORDER: c_uint = 0x4;
pub const READ_CONCURRENT: c_uint = 0x8;

pub const WALK_FOLLOW: c_uint = 0x1;
pub const WALK_FOLLOW_ROOT: c_uint = 0x2;
pub const WALK_XDEV: c_uint = 0x4;
pub const WALK_SORTED: c_uint = 0x8;

#[repr(C)]
pub struct Options {
    pub threads: c_uint,
    pub timeout_ms: c_uint,
    pub cancel: *const c_int,
    pub progress: Option<unsafe extern "C" fn(*mut c_void, usize) -> c_int>,
    pub context: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Timestamp {
    pub seconds: i64,
    pub nanoseconds: u32,
    reserved: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Statx {
    pub mask: u32,
    pub blksize: u32,
    attributes: u64,
    pub nlink: u32,
    pub uid: u32,
    pub gid: u32,
    pub mode: u16,
    spare0: u16,
    pub ino: u64,
    pub size: u64,
    pub blocks: u64,
    attributes_mask: u64,
    pub atime: Timestamp,
    pub btime: Timestamp,
    pub ctime: Timestamp,
    pub mtime: Timestamp,
    pub rdev_major: u32,
    pub rdev_minor: u32,
    pub dev_major: u32,
    pub dev_minor: u32,
    spare1: [u64; 14],
}

/// `context` and `prune` are the callback's to set.
#[repr(C)]
pub struct Entry {
    pub name: *const c_char,
    pub stat: *const Statx,
    pub inode: c_ulong,
    pub context: Cell<*mut c_void>,
    pub error: c_int,
    pub kind: u8,
    pub prune: Cell<u8>,
}

/// Its first members; Rust makes none.
#[repr(C)]
pub struct Block {
    pub path: *const c_char,
    pub path_length: usize,
    pub context: *mut c_void,
    pub entries: *const Entry,
    pub count: usize,
    pub dir: c_int,
    pub depth: c_uint,
    pub error: c_int,
}

/// Lists end with null.
#[repr(C)]
pub struct WalkFilter {
    pub max_depth: c_uint,
    pub hide: c_int,
    pub include: *const *const c_char,
    pub exclude: *const *const c_char,
    pub ignore_file: *const c_char,
}

/// The contents of a file, or a part of them.
#[repr(C)]
pub struct Contents {
    pub index: usize,
    pub data: *const c_void,
    pub length: usize,
    pub offset: u64,
    pub is_last: c_int,
    pub error: c_int,
}

extern "C" {
    pub fn ferry_statx_many(
        dir: c_int,
        names: *const *const c_char,
        count: usize,
        flags: c_int,
        mask: c_uint,
        stats: *mut Statx,
        errors: *mut c_int,
        options: *const Options,
    ) -> c_long;

    pub fn ferry_read_each(
        dir: c_int,
        names: *const *const c_char,
        count: usize,
        flags: c_uint,
        memory: usize,
        each: unsafe extern "C" fn(*mut c_void, *const Contents) -> c_int,
        context: *mut c_void,
        options: *const Options,
    ) -> c_long;

    pub fn ferry_walk_filtered(
        dir: c_int,
        path: *const c_char,
        flags: c_uint,
        mask: c_uint,
        filter: *const WalkFilter,
        block: unsafe extern "C" fn(*mut c_void, *const Block) -> c_int,
        context: *mut c_void,
        options: *const Options,
    ) -> c_int;
}

/// A negated error number of C as Rust has it.
pub fn error(number: c_int) -> std::io::Error {
    std::io::Error::from_raw_os_error(-number)
}

#[test]
fn statx_has_its_size() {
    assert_eq!(std::mem::size_of::<Statx>(), 256);
    assert_eq!(std::mem::size_of::<Entry>(), 40);
}
