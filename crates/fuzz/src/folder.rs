//! How does a target that reads files get them?
#![allow(clippy::unwrap_used, reason = "a target panics where something does not hold")]

use std::path::Path;

/// In memory, where the system has a place for that: thousands of folders a second are much for a disk.
pub(crate) fn in_folder(files: &[(&str, &[u8])], run: impl FnOnce(&Path)) {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    for (name, bytes) in files {
        let path = folder.path().join(name);
        path.parent().into_iter().for_each(|dir| std::fs::create_dir_all(dir).unwrap());
        std::fs::write(path, bytes).unwrap();
    }
    run(folder.path());
}
