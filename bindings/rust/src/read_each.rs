// SPDX-License-Identifier: MIT
use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::os::raw::{c_int, c_void};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::slice;
use std::sync::{Mutex, PoisonError};

use crate::end::End;
use crate::names::{self, Names};
use crate::{sys, Options};

const EFBIG: c_int = 27;
const ECANCELED: c_int = 125;

/// How [`read_each`] and [`read_parallel`] read.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    memory: usize,
    limit: usize,
    flags: u32,
    options: Options<'a>,
}

impl Default for Reading<'_> {
    fn default() -> Self {
        Self { memory: 0, limit: usize::MAX, flags: sys::READ_IN_ORDER, options: Options::new() }
    }
}

impl<'a> Reading<'a> {
    /// The default: 16 MiB ahead, files of any size, in the order of their paths.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes to read ahead; only a large file takes more.
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Self {
        self.memory = bytes.max(1);
        self
    }

    /// The most bytes of a file: a longer one fails with `EFBIG`.
    #[must_use]
    pub fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// Whether [`read_each`] passes files on in the order of their paths.  Otherwise none waits for
    /// another.
    #[must_use]
    pub fn in_order(self, in_order: bool) -> Self {
        self.flag(sys::READ_IN_ORDER, in_order)
    }

    /// Whether character and block devices are read, too.  FIFOs and sockets always fail.
    #[must_use]
    pub fn devices(self, read: bool) -> Self {
        self.flag(sys::READ_DEVICES, read)
    }

    /// The files are known to be regular, which saves looking at each before it is opened.
    #[must_use]
    pub fn regular(self, regular: bool) -> Self {
        self.flag(sys::READ_OPEN_FIRST, regular)
    }

    /// Threads, time limit, cancellation, and the directory that paths are relative to.
    #[must_use]
    pub fn options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    fn flag(mut self, flag: u32, on: bool) -> Self {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
        self
    }
}

/// Passes the contents of each file to `each`, with the number of its path, one file at a time and
/// in any of the threads that read, while the others go on reading.
///
/// `Break` ends it, and its value is returned.  The call itself fails when it is cancelled or out
/// of memory; everything else is an error of a file.
///
/// ```
/// use libferry::{read_each, Reading};
/// use std::ops::ControlFlow;
///
/// let mut lines = 0;
/// read_each(&["src/lib.rs", "src/none.rs"], &Reading::new(), |_, contents| {
///     if let Ok(bytes) = contents {
///         lines += bytes.iter().filter(|&&byte| byte == b'\n').count();
///     }
///     ControlFlow::<()>::Continue(())
/// })?;
/// assert!(lines > 10);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_each<P, B, F>(paths: &[P], how: &Reading<'_>, each: F) -> io::Result<Option<B>>
where
    P: AsRef<Path>,
    B: Send,
    F: FnMut(usize, io::Result<&[u8]>) -> ControlFlow<B> + Send,
{
    // The lock is never waited for: the library makes one call at a time.
    let each = Mutex::new(each);
    read(paths, how, 0, |i, contents| {
        (each.lock().unwrap_or_else(PoisonError::into_inner))(i, contents)
    })
}

/// Like [`read_each`], but the threads that read pass files on at the same time, in any order: for
/// work that is longer than reading.
///
/// ```
/// use libferry::{read_parallel, Reading};
/// use std::ops::ControlFlow;
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let bytes = AtomicUsize::new(0);
/// read_parallel(&["src/lib.rs", "src/walk.rs"], &Reading::new(), |_, contents| {
///     bytes.fetch_add(contents.map_or(0, <[u8]>::len), Ordering::Relaxed);
///     ControlFlow::<()>::Continue(())
/// })?;
/// assert!(bytes.into_inner() > 1000);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn read_parallel<P, B, F>(paths: &[P], how: &Reading<'_>, each: F) -> io::Result<Option<B>>
where
    P: AsRef<Path>,
    B: Send,
    F: Fn(usize, io::Result<&[u8]>) -> ControlFlow<B> + Sync,
{
    read(paths, &how.in_order(false), sys::READ_CONCURRENT, each)
}

fn read<P, B, F>(paths: &[P], how: &Reading<'_>, flags: u32, each: F) -> io::Result<Option<B>>
where
    P: AsRef<Path>,
    B: Send,
    F: Fn(usize, io::Result<&[u8]>) -> ControlFlow<B>,
{
    let names = Names::new(paths);
    let run = Run {
        each,
        names: &names,
        limit: how.limit,
        parts: Mutex::default(),
        end: Mutex::new(None),
    };
    // SAFETY: the closure of the caller is Sync, or behind a lock, and so is all else of `run`,
    // which lives longer than the call; `on_contents` lets no panic out.
    let result = unsafe {
        sys::ferry_read_each(
            how.options.dir(),
            names.from(0),
            names.len(),
            how.flags | flags,
            how.memory,
            on_contents::<B, F>,
            (&run as *const Run<'_, B, F> as *mut Run<'_, B, F>).cast(),
            &how.options.to_c(),
        )
    };
    End::result(run.end.into_inner().unwrap_or_else(PoisonError::into_inner), result)
}

/// What the callbacks of C, in several threads, work on.
struct Run<'a, B, F> {
    each: F,
    names: &'a Names,
    limit: usize,
    /// What has come of files that are too large for a chunk of the library's.
    parts: Mutex<HashMap<usize, Vec<u8>>>,
    end: Mutex<Option<End<B>>>,
}

impl<B, F: Fn(usize, io::Result<&[u8]>) -> ControlFlow<B>> Run<'_, B, F> {
    fn pass(&self, part: &sys::Contents) -> ControlFlow<B> {
        if part.is_last != 0 && part.offset == 0 {
            return (self.each)(part.index, self.checked(part, part.bytes()));
        }
        let mut whole = self.lock_parts().remove(&part.index).unwrap_or_default();
        // One byte beyond the limit is enough to know that the file is too long.
        let room = self.limit.saturating_add(1) - whole.len().min(self.limit);
        whole.extend_from_slice(&part.bytes()[..part.length.min(room)]);
        if part.is_last != 0 {
            return (self.each)(part.index, self.checked(part, &whole));
        }
        self.lock_parts().insert(part.index, whole);
        ControlFlow::Continue(())
    }

    fn lock_parts(&self) -> std::sync::MutexGuard<'_, HashMap<usize, Vec<u8>>> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn checked<'b>(&self, part: &sys::Contents, bytes: &'b [u8]) -> io::Result<&'b [u8]> {
        if self.names.is_invalid(part.index) {
            return Err(names::invalid());
        }
        match part.error {
            0 if bytes.len() > self.limit => Err(sys::error(-EFBIG)),
            0 => Ok(bytes),
            error => Err(sys::error(error)),
        }
    }
}

impl sys::Contents {
    fn bytes(&self) -> &[u8] {
        if self.length == 0 {
            return &[];
        }
        // SAFETY: the library's promise; the bytes live until the callback returns.
        unsafe { slice::from_raw_parts(self.data.cast(), self.length) }
    }
}

/// # Safety
/// `context` is the `Run` of the call, and `contents` valid.
unsafe extern "C" fn on_contents<B, F>(
    context: *mut c_void,
    contents: *const sys::Contents,
) -> c_int
where
    F: Fn(usize, io::Result<&[u8]>) -> ControlFlow<B>,
{
    // SAFETY: the caller's promise
    let (run, contents) = unsafe { (&*context.cast::<Run<'_, B, F>>(), &*contents) };

    match End::of(panic::catch_unwind(AssertUnwindSafe(|| run.pass(contents)))) {
        None => 0,
        Some(end) => {
            let mut first = run.end.lock().unwrap_or_else(PoisonError::into_inner);
            if first.is_none() {
                *first = Some(end);
            } else {
                std::mem::forget(end); // to drop it here could panic
            }
            -ECANCELED
        }
    }
}
