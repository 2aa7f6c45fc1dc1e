// SPDX-License-Identifier: MIT
use std::convert::TryFrom;
use std::os::raw::{c_int, c_uint};
use std::os::unix::io::{AsRawFd, BorrowedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use crate::sys;

/// How a call does its work.  The default is a call relative to the working directory, by as many
/// threads as help, without a limit of time.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    directory: Option<BorrowedFd<'a>>,
    threads: u32,
    timeout: Option<Duration>,
    cancel: Option<&'a Cancel>,
}

impl<'a> Options<'a> {
    /// The default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Paths are relative to this directory.
    #[must_use]
    pub fn directory(mut self, directory: BorrowedFd<'a>) -> Self {
        self.directory = Some(directory);
        self
    }

    /// At most so many threads, among them the calling one; 0 for as many as help.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = threads;
        self
    }

    /// An item whose system call takes longer fails with `ETIMEDOUT`.  At least a millisecond.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The call fails with `ECANCELED` soon after [`Cancel::cancel`].
    #[must_use]
    pub fn cancel(mut self, cancel: &'a Cancel) -> Self {
        self.cancel = Some(cancel);
        self
    }

    pub(crate) fn dir(&self) -> c_int {
        self.directory.map_or(sys::AT_FDCWD, |directory| directory.as_raw_fd())
    }

    pub(crate) fn to_c(self) -> sys::Options {
        let timeout = self.timeout.map_or(0, |timeout| timeout.as_millis().max(1));
        sys::Options {
            threads: self.threads,
            timeout_ms: c_uint::try_from(timeout).unwrap_or(c_uint::MAX),
            cancel: self.cancel.map_or(ptr::null(), Cancel::as_ptr),
            progress: None,
            context: ptr::null_mut(),
        }
    }
}

/// Ends calls from any thread, or from a signal handler.
#[derive(Debug, Default)]
pub struct Cancel(AtomicI32);

impl Cancel {
    /// One that has not been used.
    pub const fn new() -> Self {
        Self(AtomicI32::new(0))
    }

    /// Ends each call that has this in its options, also one that begins later.
    pub fn cancel(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    fn as_ptr(&self) -> *const c_int {
        let atomic: *const AtomicI32 = &self.0;
        atomic.cast()
    }
}
