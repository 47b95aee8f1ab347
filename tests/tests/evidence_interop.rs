//! A tool that is not ours checks the evidence that we sign, and we open what it signs: PyPI's securesystemslib.
//!
//! The same with the OpenSSL command line is among the tests of `cantus-proto`.

#![expect(clippy::unwrap_used, reason = "a test ends where it is surprised")]

use std::path::Path;
use std::process::{Command, Output};

use cantus_proto::evidence::receipt::checker_argv;
use cantus_proto::evidence::{
    Binding, Ending, Receipt, SigningKey, Subject, TrustedKey, VerifyingKey, attest, dsse,
};
use cantus_proto::ids::{AttemptNumber, CriterionId, Digest, ItemId, RunId, TreeId};
use cantus_proto::message::Isolation;

fn securesystemslib(arguments: &[&str]) -> Output {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/securesystemslib/run");
    let environment = Path::new(env!("CARGO_TARGET_TMPDIR")).join("securesystemslib");
    let output = Command::new(&fixture).arg(environment).args(arguments).output().unwrap();
    // Exit code 3: something is to be installed, and the text says what.
    assert_ne!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn receipt() -> Receipt {
    Receipt {
        subject: Subject {
            tree: TreeId::new("4b825dc642cb6eb9a060e54bf8d69288fbee4904").unwrap(),
            listing: Digest::of(b""),
        },
        binding: Binding {
            run: RunId::new("run").unwrap(),
            item: ItemId::new("é 🎼").unwrap(),
            attempt: AttemptNumber(1),
            criterion: CriterionId::new("AC-01").unwrap(),
            checker: Digest::of(b"true"),
            isolation: Isolation::Container,
        },
        argv: checker_argv("true"),
        ending: Ending::Exit(0),
        stdout: Digest::of(b""),
        stderr: Digest::of(b""),
        output_truncated: false,
        duration_ms: 1,
        image: "image".to_owned(),
        host: "host".to_owned(),
        counts: None,
        changed_files: vec![],
    }
}

#[test]
fn securesystemslib_and_we_agree() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let key = SigningKey::generate().unwrap();
    let evidence = attest(&receipt(), &key).unwrap();
    let (public, statement, proof) = (path("key.pem"), path("statement"), path("receipt"));
    std::fs::write(&public, key.verifying_key().to_pem()).unwrap();
    std::fs::write(&statement, &evidence.statement).unwrap();
    std::fs::write(&proof, &evidence.receipt).unwrap();

    let output = securesystemslib(&["verify", &public, &statement, &proof]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let id = key.verifying_key().id();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{id}\n{id}\n"));

    let stranger = SigningKey::generate().unwrap().verifying_key().to_pem();
    std::fs::write(&public, stranger).unwrap();
    let output = securesystemslib(&["verify", &public, &statement]);
    assert_eq!(output.status.code(), Some(1));

    let output = securesystemslib(&["sign", directory.path().to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let pem = std::fs::read_to_string(path("public.pem")).unwrap();
    let theirs = TrustedKey::new(VerifyingKey::from_pem(&pem).unwrap(), None);
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), theirs.id().as_str());
    let envelope = std::fs::read(path("envelope.json")).unwrap();
    let opened = dsse::open(&envelope, std::slice::from_ref(&theirs)).unwrap();
    assert_eq!(opened.payload, br#"{"made":"elsewhere"}"#);
}
