//! Describes in one sentence why an API server cannot be reached.
//!
//! Programs that get credentials write them to standard output, so the description contains none of that. It contains
//! the first line of standard error. Does not retry; see `follow`.

use kube::client::AuthError;
use kube::config::LoadDataError;
use std::error::Error;

/// Describes why the server cannot be reached.
pub fn unreachable(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) if status.code == 401 => {
            "the API server does not know who we are: the token or certificate is wrong or has expired".into()
        }
        kube::Error::Api(status) if status.code == 403 => format!("the API server does not let us in: {}", status.message),
        // The answer is an HTML page.
        kube::Error::Api(status) if status.message.trim_start().starts_with('<') => {
            format!("the API server answers {} with a page in HTML: something else answers at its address", status.code)
        }
        kube::Error::Api(status) => format!("the API server answers {}: {}", status.code, status.message),
        kube::Error::SerdeError(_) => "the API server cannot be understood: something else answers at its address".into(),
        error => format!("the API server cannot be reached: {}", innermost(error)),
    }
}

/// Returns the first line of the innermost error, because the user can act on it.
pub fn innermost(error: &(dyn Error + 'static)) -> String {
    let mut source = error;
    loop {
        if let Some(why) = source.downcast_ref::<AuthError>().and_then(credentials) {
            return why;
        }
        if let Some(LoadDataError::ReadFile(error, path)) = source.downcast_ref::<LoadDataError>() {
            return format!("cannot read {}: {error}", path.display());
        }
        match source.source() {
            Some(inner) => source = inner,
            None => break,
        }
    }
    let text = source.to_string();
    let text = text.lines().next().unwrap_or_default();
    if text.contains("InvalidContentType") {
        return "it does not speak TLS: is its address `http://`?".into();
    }
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

/// Describes a failure of a credentials program, or of a file with credentials.
fn credentials(error: &AuthError) -> Option<String> {
    Some(match error {
        AuthError::AuthExecStart(error) => format!("the program that gets its credentials cannot be run: {error}"),
        AuthError::AuthExecRun { out, .. } => {
            let said = String::from_utf8_lossy(&out.stderr);
            let said = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("without a message");
            format!("the program that gets its credentials failed ({}): {said}", out.status)
        }
        AuthError::AuthExecParse(_) | AuthError::ExecPluginFailed => "what the program that gets its credentials wrote is no ExecCredential".into(),
        AuthError::ReadTokenFile(error, path) => format!("cannot read the file of its token, {}: {error}", path.display()),
        AuthError::MissingCommand => "its user has `exec` without a `command`".into(),
        _ => return None,
    })
}
