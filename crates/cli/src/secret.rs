//! Where does a secret stand? In a variable or a file, never in a setting or on a command line.

/// Whether `text` says where a secret stands.
pub(crate) fn is_reference(text: &str) -> bool {
    text.starts_with("@env:") || text.starts_with("@file:")
}

/// Reads the secret that `@env:NAME` or `@file:PATH` refers to. No message shows it.
pub(crate) fn read(reference: &str) -> Result<String, String> {
    if let Some(name) = reference.strip_prefix("@env:") {
        return match std::env::var(name) {
            Ok(value) if value.is_empty() => Err(format!("the variable {name} is empty")),
            Ok(value) => Ok(value),
            Err(std::env::VarError::NotPresent) => Err(format!("the variable {name} is not set")),
            Err(_) => Err(format!("the variable {name} is not text")),
        };
    }
    let Some(path) = reference.strip_prefix("@file:") else {
        return Err("a secret must not stand here; use @env:NAME or @file:PATH".to_owned());
    };
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    // Editors end a file with a line break, which is no part of the secret.
    let text = text.trim_end_matches(['\r', '\n']);
    if text.is_empty() { Err(format!("{path} is empty")) } else { Ok(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_read_from_files_and_variables_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        std::fs::write(&path, "me:pass word\r\n").unwrap();
        assert_eq!(read(&format!("@file:{}", path.display())).unwrap(), "me:pass word");
        assert!(read("@file:/no/such/file").unwrap_err().contains("/no/such/file"));
        assert!(read("@env:EVERCRAWL_TEST_NOT_SET").unwrap_err().contains("is not set"));
        let open = read("hunter2").unwrap_err();
        assert!(open.contains("@env:NAME") && !open.contains("hunter2"), "{open}");
        assert!(is_reference("@env:X") && is_reference("@file:x") && !is_reference("x"));
    }
}
