//! Windows: handles instead of descriptors. A file is opened without following a reparse point and its final path, as the
//! handle knows it, must lie below the root's. While files are replaced, their directory is held open without sharing
//! deletion: Windows then renames neither it nor anything above it.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_TYPE_DISK,
    GetFileInformationByHandle, GetFileType, GetFinalPathNameByHandleW,
};

use super::{Opened, SysError, temporary_name};

/// The pinned directory.
#[derive(Debug)]
pub(in super::super) struct Root {
    /// Held so that the directory cannot be replaced.
    _handle: File,
    path: PathBuf,
}

impl Root {
    pub(in super::super) fn open(path: &Path) -> io::Result<Self> {
        let handle = open_directory(path)?;
        Ok(Self { path: final_path(&handle)?, _handle: handle })
    }
}

struct Facts {
    attributes: u32,
    links: u64,
    size: u64,
}

pub(in super::super) fn open_read(root: &Root, below: &Path) -> Result<Opened, SysError> {
    let mut options = OpenOptions::new();
    options.read(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE);
    let file = open_checked(root, below, &mut options)?;
    let facts = facts(&file).map_err(SysError::Io)?;
    Ok(Opened { is_regular: is_regular(&file, &facts)?, has_other_links: facts.links > 1, size: facts.size, file })
}

pub(in super::super) fn replace(root: &Root, below: &Path, content: &[u8]) -> Result<(), SysError> {
    let name = below.file_name().ok_or(SysError::NotRegular)?;
    let parent_below = below.parent().unwrap_or(Path::new(""));
    // Pins the directory and everything above it until the end of this function.
    let directory = open_directory(&root.path.join(parent_below)).map_err(SysError::Io)?;
    let parent = final_path(&directory).map_err(SysError::Io)?;
    if facts(&directory).map_err(SysError::Io)?.attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0
        || parent != root.path.join(parent_below)
    {
        return Err(SysError::Escapes);
    }
    let target = parent.join(name);
    let mut options = OpenOptions::new();
    options.write(true).share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE);
    let permissions = match open_checked(root, below, &mut options) {
        Ok(old) => {
            let facts = facts(&old).map_err(SysError::Io)?;
            if !is_regular(&old, &facts)? {
                return Err(SysError::NotRegular);
            }
            if facts.links > 1 {
                return Err(SysError::HardLinked);
            }
            Some(old.metadata().map_err(SysError::Io)?.permissions())
        }
        Err(SysError::Io(error)) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let temporary = parent.join(temporary_name().map_err(SysError::Io)?);
    let write = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&temporary)?;
        file.write_all(content)?;
        if let Some(permissions) = permissions {
            file.set_permissions(permissions)?;
        }
        drop(file);
        std::fs::rename(&temporary, &target)
    };
    write().map_err(|error| {
        let _ = std::fs::remove_file(&temporary);
        SysError::Io(error)
    })
}

fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
        .open(path)
}

fn open_checked(root: &Root, below: &Path, options: &mut OpenOptions) -> Result<File, SysError> {
    let path = root.path.join(below);
    let file = options
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT)
        .open(&path)
        .map_err(SysError::Io)?;
    let is_link = facts(&file).map_err(SysError::Io)?.attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    if is_link || !final_path(&file).map_err(SysError::Io)?.starts_with(&root.path) {
        return Err(SysError::Escapes);
    }
    Ok(file)
}

fn is_regular(file: &File, facts: &Facts) -> Result<bool, SysError> {
    // SAFETY: the handle is open for as long as `file` lives.
    let kind = unsafe { GetFileType(file.as_raw_handle()) };
    Ok(kind == FILE_TYPE_DISK && facts.attributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT) == 0)
}

fn facts(file: &File) -> io::Result<Facts> {
    let mut info = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open and `info` is a writable structure of the expected size.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut info) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Facts {
        attributes: info.dwFileAttributes,
        links: info.nNumberOfLinks.into(),
        size: (u64::from(info.nFileSizeHigh) << 32) | u64::from(info.nFileSizeLow),
    })
}

fn final_path(file: &File) -> io::Result<PathBuf> {
    let mut buffer = vec![0u16; 512];
    loop {
        let room = u32::try_from(buffer.len()).map_err(io::Error::other)?;
        // SAFETY: the handle is open and the buffer has `room` writable units.
        let length = unsafe { GetFinalPathNameByHandleW(file.as_raw_handle(), buffer.as_mut_ptr(), room, 0) } as usize;
        if length == 0 {
            return Err(io::Error::last_os_error());
        }
        if length < buffer.len() {
            return Ok(PathBuf::from(std::ffi::OsString::from_wide(&buffer[..length])));
        }
        buffer.resize(length + 1, 0);
    }
}
