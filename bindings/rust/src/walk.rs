// SPDX-License-Identifier: MIT
use std::ffi::{CStr, CString, OsStr, OsString};
use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::os::raw::{c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::BorrowedFd;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::ptr;
use std::slice;

use crate::end::End;
use crate::{names, sys, Attributes, Fields, FileType, Options};

type Filter<'a> = Box<dyn FnMut(&Entry<'_>) -> bool + Send + 'a>;

/// A walk through a tree: how it is done, until [`run`](Self::run) does it.
///
/// ```
/// use libferry::{Fields, Walk};
/// use std::ops::ControlFlow;
///
/// let mut bytes = 0;
/// Walk::new("src").fields(Fields::SIZE).hidden(false).run(|block| {
///     for entry in block.entries() {
///         bytes += entry.attributes().map_or(0, |attributes| attributes.size());
///     }
///     ControlFlow::<()>::Continue(())
/// })?;
/// assert!(bytes > 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub struct Walk<'a> {
    root: PathBuf,
    fields: Fields,
    flags: u32,
    hidden: bool,
    max_depth: u32,
    include: Vec<OsString>,
    exclude: Vec<OsString>,
    ignore_file: Option<OsString>,
    filter: Option<Filter<'a>>,
    options: Options<'a>,
}

impl<'a> Walk<'a> {
    /// A walk through the tree at `root`.  If `root` is a symbolic link, it is followed; others are
    /// not.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            fields: Fields::NONE,
            flags: sys::WALK_FOLLOW_ROOT,
            hidden: true,
            max_depth: u32::MAX,
            include: Vec::new(),
            exclude: Vec::new(),
            ignore_file: None,
            filter: None,
            options: Options::new(),
        }
    }

    /// The attributes of each entry.  Otherwise entries have their types only, which most file
    /// systems give without a call per entry.
    pub fn fields(mut self, fields: Fields) -> Self {
        self.fields = fields;
        self
    }

    /// Whether all symbolic links are followed.  A link that leads nowhere is an entry itself.
    pub fn follow_links(self, follow: bool) -> Self {
        self.flag(sys::WALK_FOLLOW, follow)
    }

    /// Whether the root is followed if it is a symbolic link.
    pub fn follow_root(self, follow: bool) -> Self {
        self.flag(sys::WALK_FOLLOW_ROOT, follow)
    }

    /// Whether the walk stays out of directories on other devices than the root's.
    pub fn same_file_system(self, same: bool) -> Self {
        self.flag(sys::WALK_XDEV, same)
    }

    /// Whether each directory is one block, with its entries in the order of their bytes, and
    /// directories come in the order of a recursion.
    pub fn sorted(self, sorted: bool) -> Self {
        self.flag(sys::WALK_SORTED, sorted)
    }

    /// Whether entries whose names begin with a dot are passed on and entered, as they are unless
    /// this is set to false.  The root always is.
    pub fn hidden(mut self, hidden: bool) -> Self {
        self.hidden = hidden;
        self
    }

    /// The depth of the deepest entries; that of the root is 0.
    pub fn max_depth(mut self, depth: u32) -> Self {
        self.max_depth = depth;
        self
    }

    /// Leaves out a file that matches none of these patterns; directories are passed on.  A pattern
    /// is a line of a `.gitignore`, relative to the root.
    pub fn include<I: IntoIterator<Item = S>, S: Into<OsString>>(mut self, patterns: I) -> Self {
        self.include.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// Leaves out an entry that matches one of these patterns, and everything below it.
    pub fn exclude<I: IntoIterator<Item = S>, S: Into<OsString>>(mut self, patterns: I) -> Self {
        self.exclude.extend(patterns.into_iter().map(Into::into));
        self
    }

    /// The name of files that have such patterns for their directories, such as `.gitignore`.
    pub fn ignore_file(mut self, name: impl Into<OsString>) -> Self {
        self.ignore_file = Some(name.into());
        self
    }

    /// Entries for which this returns false are not passed on, and not entered.
    pub fn filter(mut self, filter: impl FnMut(&Entry<'_>) -> bool + Send + 'a) -> Self {
        self.filter = Some(Box::new(filter));
        self
    }

    /// Threads, time limit, cancellation, and the directory that the root is relative to.
    pub fn options(mut self, options: Options<'a>) -> Self {
        self.options = options;
        self
    }

    fn flag(mut self, flag: u32, on: bool) -> Self {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
        self
    }

    /// Passes all entries to `block`, one block at a time, in any of the threads that walk.
    ///
    /// The first block has the root alone.  Every other one has entries of one directory and comes
    /// after the directory's own.  `Break` ends the walk, and its value is returned.  The walk
    /// fails if the root is not found, if it is cancelled, or out of memory.
    pub fn run<B, F>(self, block: F) -> io::Result<Option<B>>
    where
        B: Send,
        F: FnMut(&Block<'_>) -> ControlFlow<B> + Send,
    {
        let root = c_string(self.root.as_os_str())?;
        let (include, exclude) = (List::new(&self.include)?, List::new(&self.exclude)?);
        let ignore_file = self.ignore_file.as_deref().map(c_string).transpose()?;
        let filter = sys::WalkFilter {
            // To the library 0 is no limit, and the root alone is for the callback to see to.
            max_depth: if self.max_depth == u32::MAX { 0 } else { self.max_depth },
            hide: (!self.hidden).into(),
            include: include.as_ptr(),
            exclude: exclude.as_ptr(),
            ignore_file: ignore_file.as_ref().map_or(ptr::null(), |name| name.as_ptr()),
        };
        let mut run = Run {
            block,
            filter: self.filter,
            is_root_alone: self.max_depth == 0,
            kept: Vec::new(),
            end: None,
        };
        // SAFETY: the walk passes `run` to no other function, to one thread at a time, and is over
        // when the call returns.  `on_block` lets no panic out.
        let result = unsafe {
            sys::ferry_walk_filtered(
                self.options.dir(),
                root.as_ptr(),
                self.flags,
                self.fields.0,
                &filter,
                on_block::<B, F>,
                (&mut run as *mut Run<'_, B, F>).cast(),
                &self.options.to_c(),
            )
        };
        End::result(run.end, result.into())
    }
}

fn c_string(text: &OsStr) -> io::Result<CString> {
    CString::new(text.as_bytes()).map_err(|_| names::invalid())
}

/// Patterns as C takes them: none, or pointers with null at the end.
struct List {
    /// `pointers` lead to these.
    texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl List {
    fn new(patterns: &[OsString]) -> io::Result<Self> {
        let texts: Vec<CString> =
            patterns.iter().map(|text| c_string(text)).collect::<io::Result<_>>()?;
        let ends = std::iter::once(ptr::null());
        let pointers = texts.iter().map(|text| text.as_ptr()).chain(ends).collect();
        Ok(Self { texts, pointers })
    }

    fn as_ptr(&self) -> *const *const c_char {
        if self.texts.is_empty() {
            ptr::null()
        } else {
            self.pointers.as_ptr()
        }
    }
}

/// What the callback of C works on.
struct Run<'a, B, F> {
    block: F,
    filter: Option<Filter<'a>>,
    is_root_alone: bool,
    /// Numbers of the entries that are passed on, of a block with others.
    kept: Vec<usize>,
    end: Option<End<B>>,
}

impl<B, F: FnMut(&Block<'_>) -> ControlFlow<B>> Run<'_, B, F> {
    fn pass(&mut self, raw: &sys::Block) -> ControlFlow<B> {
        let all = Block { raw, kept: None };

        if self.is_root_alone {
            all.entries().for_each(|entry| entry.prune());
        }
        if self.filter.is_none() {
            return (self.block)(&all);
        }
        self.keep(&all);
        if self.kept.is_empty() && raw.count > 0 {
            return ControlFlow::Continue(());
        }
        (self.block)(&Block { kept: Some(&self.kept), ..all })
    }

    fn keep(&mut self, block: &Block<'_>) {
        self.kept.clear();
        for (i, entry) in block.entries().enumerate() {
            if self.filter.as_mut().map_or(true, |filter| filter(&entry)) {
                self.kept.push(i);
            } else {
                entry.prune();
            }
        }
    }
}

/// # Safety
/// `context` is the `Run` that no other thread uses, and `block` valid.
unsafe extern "C" fn on_block<B, F>(context: *mut c_void, block: *const sys::Block) -> c_int
where
    F: FnMut(&Block<'_>) -> ControlFlow<B>,
{
    // SAFETY: the caller's promise
    let (run, block) = unsafe { (&mut *context.cast::<Run<'_, B, F>>(), &*block) };

    run.end = End::of(panic::catch_unwind(AssertUnwindSafe(|| run.pass(block))));
    run.end.is_some().into()
}

/// Some or all entries of one directory.
#[derive(Clone, Copy)]
pub struct Block<'a> {
    raw: &'a sys::Block,
    kept: Option<&'a [usize]>,
}

impl<'a> Block<'a> {
    /// The directory, which begins with the root as it was given; empty for the root itself.
    pub fn path(&self) -> &'a Path {
        // SAFETY: the library's promise; the bytes live as long as the block.
        let bytes = unsafe { slice::from_raw_parts(self.raw.path.cast(), self.raw.path_length) };
        Path::new(OsStr::from_bytes(bytes))
    }

    /// The number of directories above the entries: 0 for the root.
    pub fn depth(&self) -> u32 {
        self.raw.depth
    }

    /// Why the directory could not be read to its end; the block has no entries then.  `ELOOP`
    /// says that the directory is also one above itself.
    pub fn error(&self) -> Option<io::Error> {
        (self.raw.error != 0).then(|| sys::error(self.raw.error))
    }

    /// The number that [`Entry::set_tag`] gave to the directory, or 0.
    pub fn tag(&self) -> usize {
        self.raw.context as usize
    }

    /// The directory itself, open, for calls relative to it; none after an error and in a sorted
    /// walk.
    pub fn directory(&self) -> Option<BorrowedFd<'a>> {
        // SAFETY: the descriptor stays open as long as the block exists.
        (self.raw.dir >= 0).then(|| unsafe { BorrowedFd::borrow_raw(self.raw.dir) })
    }

    /// The entries, without `.` and `..`.
    pub fn entries(&self) -> Entries<'a> {
        Entries { block: *self, next: 0 }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.kept.map_or(self.raw.count, <[usize]>::len)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn entry(&self, i: usize) -> Entry<'a> {
        // SAFETY: there are so many entries, and they live as long as the block.
        Entry { raw: unsafe { &*self.raw.entries.add(i) }, block: self.raw }
    }
}

impl fmt::Debug for Block<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Block").field("path", &self.path()).field("len", &self.len()).finish()
    }
}

/// The entries of a [`Block`].
#[derive(Clone, Debug)]
pub struct Entries<'a> {
    block: Block<'a>,
    next: usize,
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        if self.next == self.block.len() {
            return None;
        }
        let i = self.block.kept.map_or(self.next, |kept| kept[self.next]);
        self.next += 1;
        Some(self.block.entry(i))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.block.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Entries<'_> {}

/// A name in a directory, or the root.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    raw: &'a sys::Entry,
    block: &'a sys::Block,
}

impl<'a> Entry<'a> {
    /// The name, without a slash; that of the root is its path as it was given.
    pub fn name(&self) -> &'a OsStr {
        // SAFETY: a string that lives as long as the block
        OsStr::from_bytes(unsafe { CStr::from_ptr(self.raw.name) }.to_bytes())
    }

    /// The path, which begins with that of the root: the only part of an entry that has to be
    /// built.
    pub fn path(&self) -> PathBuf {
        let block = Block { raw: self.block, kept: None };
        block.path().join(self.name())
    }

    /// The number of directories above it: 0 for the root.
    pub fn depth(&self) -> u32 {
        self.block.depth
    }

    /// The type; it is known without attributes, and unknown after an error.
    pub fn file_type(&self) -> FileType {
        FileType(self.raw.kind)
    }

    /// The attributes, if the walk asks for any and there is no error.
    pub fn attributes(&self) -> Option<&'a Attributes> {
        // SAFETY: null or attributes that live as long as the block; Attributes is transparent.
        unsafe { self.raw.stat.cast::<Attributes>().as_ref() }
    }

    /// The inode number in the directory, which differs from that of the attributes at a mount
    /// point; 0 for the root.
    pub fn ino(&self) -> u64 {
        self.raw.inode
    }

    /// Why there are no attributes.
    pub fn error(&self) -> Option<io::Error> {
        (self.raw.error != 0).then(|| sys::error(self.raw.error))
    }

    /// Whether the name begins with a dot.
    pub fn is_hidden(&self) -> bool {
        // SAFETY: a name is a string
        unsafe { *self.raw.name == b'.' as _ }
    }

    /// Keeps the walk out of this directory.
    pub fn prune(&self) {
        self.raw.prune.set(1);
    }

    /// A number that the blocks of this directory have as [`Block::tag`].
    pub fn set_tag(&self, tag: usize) {
        self.raw.context.set(tag as *mut c_void);
    }
}

impl fmt::Debug for Entry<'_> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Entry")
            .field("name", &self.name())
            .field("type", &self.file_type())
            .finish()
    }
}
