//! `install-plugin`: puts the Apiary plugin where a host looks for it.

use std::env;
use std::path::PathBuf;

use clap::Args;

use crate::apiary::{self, InstallError, PluginId};

use super::context::Context;
use super::failure::{Exit, Failure};

/// The executable of the plugin, which is installed beside this one.
const EXECUTABLE: &str = "windowpane-apiary";

#[derive(Debug, Args)]
pub(super) struct InstallPlugin {
    /// Where the host looks for plugins, such as .apiary/plugins; it gets a folder of its own there
    #[arg(value_name = "FOLDER")]
    plugins: PathBuf,

    /// The id of the plugin, to take the place of another one [default: dev.windowpane.routines]
    #[arg(long, value_name = "ID")]
    id: Option<PluginId>,

    /// The executable to install [default: windowpane-apiary beside this one]
    #[arg(long, value_name = "FILE")]
    executable: Option<PathBuf>,
}

pub(super) fn install_plugin(args: InstallPlugin, context: &Context) -> Result<Exit, Failure> {
    let executable = match args.executable {
        Some(executable) => executable,
        None => env::current_exe()
            .map_err(|error| {
                Failure::failed("unreadable", format!("this program is nowhere: {error}"), None)
            })?
            .with_file_name(EXECUTABLE),
    };
    let folder = apiary::install(&args.plugins, args.id.as_ref(), &executable).map_err(refuse)?;
    context.console.summarise(&format!(
        "installed in {}; enable it in apiary.yaml and restart the daemon",
        folder.display()
    ));
    Ok(Exit::Done)
}

fn refuse(error: InstallError) -> Failure {
    let message = error.to_string();
    match error {
        InstallError::Installed { .. } => Failure::refused(
            "already_installed",
            message,
            Some("stop the daemon and remove that folder first; the state file stands elsewhere"),
        ),
        InstallError::Io { action: "read", .. } => {
            Failure::failed("not_installed", message, Some("name the executable by --executable"))
        }
        InstallError::Io { .. } => Failure::failed("not_installed", message, None),
    }
}
