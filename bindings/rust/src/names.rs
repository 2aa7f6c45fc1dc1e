// SPDX-License-Identifier: MIT
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Paths as C takes them, in one piece of memory.
pub struct Names {
    /// `pointers` lead here.
    _bytes: Vec<u8>,
    pointers: Vec<*const c_char>,
    /// Paths with a null byte, in rising order; an empty name stands for each.
    invalid: Vec<usize>,
}

// The pointers lead to memory that nothing changes.
unsafe impl Send for Names {}
unsafe impl Sync for Names {}

impl Names {
    pub fn new<P: AsRef<Path>>(paths: &[P]) -> Self {
        let mut bytes = Vec::new();
        let mut starts = Vec::with_capacity(paths.len());
        let mut invalid = Vec::new();

        for (i, path) in paths.iter().enumerate() {
            let name = path.as_ref().as_os_str().as_bytes();
            starts.push(bytes.len());
            if name.contains(&0) {
                invalid.push(i);
            } else {
                bytes.extend_from_slice(name);
            }
            bytes.push(0);
        }
        let pointers = starts.iter().map(|&start| bytes[start..].as_ptr().cast()).collect();
        Self { _bytes: bytes, pointers, invalid }
    }

    pub fn len(&self) -> usize {
        self.pointers.len()
    }

    pub fn from(&self, first: usize) -> *const *const c_char {
        self.pointers[first..].as_ptr()
    }

    pub fn is_invalid(&self, i: usize) -> bool {
        self.invalid.binary_search(&i).is_ok()
    }
}

/// The error of a path with a null byte.
pub fn invalid() -> std::io::Error {
    std::io::Error::new(std::io::ErrorKind::InvalidInput, "the path has a null byte")
}
