//! The plugin as Apiary finds it: a folder named by its id, with a manifest and the executable.

use std::fmt;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// The manifest but for the checksum, which belongs to one executable.
const MANIFEST: &str = include_str!("../../schemas/apiary/apiary-plugin.json");
/// The name under which the host looks for it.
const MANIFEST_FILE: &str = "apiary-plugin.json";

/// The name of a plugin among all of a host: lower-case reverse-DNS, of three parts at least.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PluginId(String);

/// A text is no id of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "an id has three parts at least, separated by dots, each of a-z, 0-9 and `-`, beginning with a letter"
)]
pub struct PluginIdError;

/// The plugin cannot be installed. Nothing is left behind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// A plugin with this id is there.
    #[error("`{}` is there already", folder.display())]
    Installed {
        /// Its folder.
        folder: PathBuf,
    },
    /// The file system refuses.
    #[error("`{}` cannot be {action}: {source}", path.display())]
    Io {
        /// What was to be done: `read` or `written`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    schema_version: u32,
    id: PluginId,
    version: String,
    apiary: String,
    protocol: u32,
    executable: String,
    #[serde(default)]
    checksum: String,
    capabilities: Vec<String>,
    config_schema: Box<RawValue>,
    security: Box<RawValue>,
}

impl PluginId {
    /// Checks a name.
    ///
    /// # Errors
    /// [`PluginIdError`] says what one looks like.
    pub fn new(id: &str) -> Result<PluginId, PluginIdError> {
        let is_part = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_lowercase())
                && part.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        };
        match id.split('.').count() >= 3 && id.split('.').all(is_part) {
            true => Ok(PluginId(id.to_owned())),
            false => Err(PluginIdError),
        }
    }
}

impl FromStr for PluginId {
    type Err = PluginIdError;

    fn from_str(id: &str) -> Result<PluginId, PluginIdError> {
        PluginId::new(id)
    }
}

impl fmt::Display for PluginId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Puts the plugin into a folder of its own below `plugins`, one of the host's `plugin_dirs`: a
/// copy of `executable`, and a manifest that pins its SHA-256. Gives the folder back.
///
/// Without `id` it has the one of the manifest in `schemas/apiary`.
///
/// # Errors
/// [`InstallError`] says why not; then nothing is left behind.
pub fn install(
    plugins: &Path,
    id: Option<&PluginId>,
    executable: &Path,
) -> Result<PathBuf, InstallError> {
    let io = |action, path: &Path, source| InstallError::Io { action, path: path.into(), source };
    let mut manifest: Manifest = serde_json::from_str(MANIFEST)
        .map_err(|error| io("read", Path::new(MANIFEST_FILE), error.into()))?;
    if let Some(id) = id {
        manifest.id = id.clone();
    }
    let folder = plugins.join(&manifest.id.0);
    fs::create_dir_all(plugins).map_err(|error| io("written", plugins, error))?;
    match fs::create_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(InstallError::Installed { folder });
        }
        made => made.map_err(|error| io("written", &folder, error))?,
    }
    let filled = fill(&folder, manifest, executable);
    if filled.is_err() {
        // Half a plugin is worse than none; where even this fails there is no manifest in it.
        let _ = fs::remove_dir_all(&folder);
    }
    filled.map(|()| folder)
}

/// The executable first: without a manifest the host passes the folder over.
fn fill(folder: &Path, mut manifest: Manifest, executable: &Path) -> Result<(), InstallError> {
    let installed = folder.join(&manifest.executable);
    let written = |path: &Path| {
        let path = path.to_owned();
        move |source| InstallError::Io { action: "written", path, source }
    };
    let read = |source| InstallError::Io { action: "read", path: executable.to_owned(), source };
    // What is not there or cannot be read is told of the original, not of the copy.
    drop(File::open(executable).map_err(read)?);
    fs::copy(executable, &installed).map_err(written(&installed))?;
    let executable = Permissions::from_mode(0o755);
    fs::set_permissions(&installed, executable).map_err(written(&installed))?;
    manifest.checksum = checksum(&installed).map_err(written(&installed))?;
    let path = folder.join(MANIFEST_FILE);
    let text = serde_json::to_string_pretty(&manifest).map_err(io::Error::from);
    text.and_then(|text| fs::write(&path, text + "\n")).map_err(written(&path))
}

/// The SHA-256 of a file, in lower-case hexadecimal digits.
fn checksum(path: &Path) -> io::Result<String> {
    Ok(Sha256::digest(fs::read(path)?).iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_reversed_domain_in_lower_case() {
        for id in ["dev.windowpane.routines", "a.b.c", "a.b-1.c2.d", "dev.apiary.routines"] {
            assert_eq!(PluginId::new(id).map(|id| id.to_string()), Ok(id.to_owned()));
        }
        for id in
            ["", "a", "a.b", "a..c", "a.b.", "A.b.c", "a.b.1c", "a.b.-c", "a.b.c_d", "a/b.c.d"]
        {
            assert_eq!(PluginId::new(id), Err(PluginIdError), "{id}");
        }
    }
}
