// SPDX-License-Identifier: MIT
//! Folders that end with the test, and random numbers whose seed it prints.
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("libferry-{}-{}", std::process::id(), number));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn file(&self, name: &str, contents: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Marsaglia's xorshift64.
#[allow(dead_code)]
pub struct Random(u64);

#[allow(dead_code)]
impl Random {
    /// Of FERRY_SEED, or a new seed, which a test that fails shows.
    pub fn new() -> Self {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64;
        let seed = std::env::var("FERRY_SEED").map_or_else(|_| now(), |seed| seed.parse().unwrap());
        println!("FERRY_SEED={}", seed);
        Self(seed.max(1))
    }

    /// Below `limit`
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
