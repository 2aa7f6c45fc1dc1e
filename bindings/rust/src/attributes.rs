// SPDX-License-Identifier: MIT
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::ops::BitOr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::names::{self, Names};
use crate::{sys, Options};

/// Attributes to ask `statx(2)` for.  Asking for few can be faster, above all on network
/// file systems.
///
/// ```
/// use libferry::Fields;
/// let fields = Fields::SIZE | Fields::MTIME;
/// assert!(fields.contains(Fields::SIZE));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Fields(pub(crate) u32);

impl Fields {
    /// No attributes: a walk then makes no call per entry where the file system gives types.
    pub const NONE: Self = Self(0);
    /// The type of the file.
    pub const TYPE: Self = Self(0x1);
    /// The permissions.
    pub const MODE: Self = Self(0x2);
    /// The number of hard links.
    pub const NLINK: Self = Self(0x4);
    /// The owner.
    pub const UID: Self = Self(0x8);
    /// The group.
    pub const GID: Self = Self(0x10);
    /// The time of the last access.
    pub const ATIME: Self = Self(0x20);
    /// The time of the last change of the contents.
    pub const MTIME: Self = Self(0x40);
    /// The time of the last change of the attributes.
    pub const CTIME: Self = Self(0x80);
    /// The inode number.
    pub const INO: Self = Self(0x100);
    /// The size in bytes.
    pub const SIZE: Self = Self(0x200);
    /// The space in use.
    pub const BLOCKS: Self = Self(0x400);
    /// All that `stat(2)` gives.
    pub const BASIC: Self = Self(0x7ff);
    /// The time of the birth, which some file systems do not have.
    pub const BTIME: Self = Self(0x800);

    /// Whether all of `other` are among these.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for Fields {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The attributes of a file.  Those that were not asked for may be zero.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Attributes(sys::Statx);

impl Attributes {
    /// The attributes that the file system gave.
    pub fn fields(&self) -> Fields {
        Fields(self.0.mask)
    }

    /// Bytes of the contents.
    pub fn size(&self) -> u64 {
        self.0.size
    }

    /// Space in use, in units of 512 bytes.
    pub fn blocks(&self) -> u64 {
        self.0.blocks
    }

    /// The size in bytes in which the file system prefers to be read.
    pub fn block_size(&self) -> u32 {
        self.0.blksize
    }

    /// Type and permissions, as in `st_mode` of `stat(2)`.
    pub fn mode(&self) -> u32 {
        self.0.mode.into()
    }

    /// The number of hard links.
    pub fn nlink(&self) -> u32 {
        self.0.nlink
    }

    /// The owner.
    pub fn uid(&self) -> u32 {
        self.0.uid
    }

    /// The group.
    pub fn gid(&self) -> u32 {
        self.0.gid
    }

    /// The inode number.
    pub fn ino(&self) -> u64 {
        self.0.ino
    }

    /// Major and minor number of the device that the file is on.
    pub fn device(&self) -> (u32, u32) {
        (self.0.dev_major, self.0.dev_minor)
    }

    /// Major and minor number of the device that the file stands for.
    pub fn special_device(&self) -> (u32, u32) {
        (self.0.rdev_major, self.0.rdev_minor)
    }

    /// The type of the file.
    pub fn file_type(&self) -> FileType {
        FileType::from_mode(self.mode())
    }

    /// The time of the last access.
    pub fn accessed(&self) -> Option<SystemTime> {
        self.time(Fields::ATIME, self.0.atime)
    }

    /// The time of the last change of the contents.
    pub fn modified(&self) -> Option<SystemTime> {
        self.time(Fields::MTIME, self.0.mtime)
    }

    /// The time of the last change of the attributes.
    pub fn changed(&self) -> Option<SystemTime> {
        self.time(Fields::CTIME, self.0.ctime)
    }

    /// The time of the birth.
    pub fn created(&self) -> Option<SystemTime> {
        self.time(Fields::BTIME, self.0.btime)
    }

    fn time(&self, field: Fields, time: sys::Timestamp) -> Option<SystemTime> {
        if !self.fields().contains(field) {
            return None;
        }
        let seconds = Duration::from_secs(time.seconds.unsigned_abs());
        let whole = if time.seconds < 0 {
            SystemTime::UNIX_EPOCH.checked_sub(seconds)
        } else {
            SystemTime::UNIX_EPOCH.checked_add(seconds)
        };
        whole?.checked_add(Duration::from_nanos(time.nanoseconds.into()))
    }
}

impl fmt::Debug for Attributes {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("Attributes")
            .field("mode", &format_args!("{:#o}", self.mode()))
            .field("ino", &self.ino())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileType(pub(crate) u8);

impl FileType {
    /// Not known: there was an error.
    pub const UNKNOWN: Self = Self(0);
    /// A FIFO.
    pub const FIFO: Self = Self(1);
    /// A character device.
    pub const CHARACTER_DEVICE: Self = Self(2);
    /// A directory.
    pub const DIRECTORY: Self = Self(4);
    /// A block device.
    pub const BLOCK_DEVICE: Self = Self(6);
    /// A regular file.
    pub const FILE: Self = Self(8);
    /// A symbolic link.
    pub const SYMLINK: Self = Self(10);
    /// A socket.
    pub const SOCKET: Self = Self(12);

    /// That in a mode, as `stat(2)` has it.
    pub fn from_mode(mode: u32) -> Self {
        Self((mode >> 12 & 0xf) as u8)
    }

    /// Whether it is a directory.
    pub fn is_dir(self) -> bool {
        self == Self::DIRECTORY
    }

    /// Whether it is a regular file.
    pub fn is_file(self) -> bool {
        self == Self::FILE
    }

    /// Whether it is a symbolic link.
    pub fn is_symlink(self) -> bool {
        self == Self::SYMLINK
    }
}

/// Looks up the attributes of many files, with symbolic links followed.
///
/// There is a result for each path, in their order.  The call itself fails when it is cancelled
/// or out of memory.
///
/// ```
/// use libferry::{stat_many, Fields, Options};
/// let found = stat_many(&["/", "/no/such/file"], Fields::SIZE, &Options::new())?;
/// assert!(found[0].as_ref().unwrap().file_type().is_dir());
/// assert_eq!(found[1].as_ref().unwrap_err().kind(), std::io::ErrorKind::NotFound);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn stat_many<P: AsRef<Path>>(
    paths: &[P],
    fields: Fields,
    options: &Options<'_>,
) -> io::Result<Vec<io::Result<Attributes>>> {
    look(&Names::new(paths), 0, fields, options)
}

/// Like [`stat_many`], but a symbolic link is looked at itself.
pub fn lstat_many<P: AsRef<Path>>(
    paths: &[P],
    fields: Fields,
    options: &Options<'_>,
) -> io::Result<Vec<io::Result<Attributes>>> {
    look(&Names::new(paths), sys::AT_SYMLINK_NOFOLLOW, fields, options)
}

fn look(
    names: &Names,
    flags: i32,
    fields: Fields,
    options: &Options<'_>,
) -> io::Result<Vec<io::Result<Attributes>>> {
    let count = names.len();
    let mut stats: Vec<MaybeUninit<sys::Statx>> = Vec::with_capacity(count);
    let mut errors = vec![0; count];
    // The type is always of use, and costs nothing.
    let mask = fields.0 | Fields::TYPE.0;

    // SAFETY: the arrays have room for `count` results, and elements of MaybeUninit may be unset.
    let result = unsafe {
        stats.set_len(count);
        sys::ferry_statx_many(
            options.dir(),
            names.from(0),
            count,
            flags,
            mask,
            stats.as_mut_ptr().cast(),
            errors.as_mut_ptr(),
            &options.to_c(),
        )
    };
    if result < 0 {
        return Err(sys::error(result as i32));
    }
    let found = stats.iter().zip(&errors).enumerate().map(|(i, (stat, &error))| {
        if names.is_invalid(i) {
            return Err(names::invalid());
        }
        if error != 0 {
            return Err(sys::error(error));
        }
        // SAFETY: a name without an error has its attributes.
        Ok(Attributes(unsafe { stat.assume_init() }))
    });
    Ok(found.collect())
}
