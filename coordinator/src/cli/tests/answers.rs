//! What a person is told when there is no coordinator, or none that will.

use tonic::Status;

use super::fake::{Answers, Fake};
use super::{Exit, cantus};

#[tokio::test]
async fn without_a_coordinator_the_way_out_is_named() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("cantus.sock");
    for line in
        [["status"].as_slice(), &["watch", "r"], &["queue"], &["item", "r", "i"], &["cancel", "r"]]
    {
        let ran = cantus(home.path(), line).await;
        assert_eq!(ran.exit, Exit::Unreachable, "{line:?}: {ran:?}");
        assert_eq!(
            ran.notes,
            format!(
                "cantus: no coordinator at {}: there is no such socket; start it with `cantus up`\n",
                socket.display()
            )
        );
        assert_eq!(ran.out, "");
    }
    // One that was killed leaves its socket.
    drop(std::os::unix::net::UnixListener::bind(&socket).unwrap());
    let ran = cantus(home.path(), &["status"]).await;
    assert_eq!(ran.exit, Exit::Unreachable);
    assert!(
        ran.notes.contains("it has ended and left its socket behind; start it again"),
        "{ran:?}"
    );
}

#[tokio::test]
async fn places_that_cannot_be_are_named() {
    let home = tempfile::tempdir().unwrap();
    let long = home.path().join("x".repeat(120));
    let ran = cantus(&long, &["status"]).await;
    assert!(
        ran.notes.contains("too long for a socket") && ran.exit == Exit::Unreachable,
        "{ran:?}"
    );
    for (url, said) in [
        ("localhost:7733", "write --connect http://HOST:PORT"),
        ("https://localhost:1", "write --connect http://HOST:PORT"),
        ("http://127.0.0.1:1", "cantus serve --listen"),
    ] {
        let ran = cantus(home.path(), &["status", "--connect", url]).await;
        assert!(ran.notes.contains(said) && ran.notes.contains(url), "{ran:?}");
        assert_eq!(ran.exit, Exit::Unreachable);
    }
}

#[tokio::test]
async fn each_refusal_has_its_exit_code_and_is_escaped() {
    for (status, exit) in [
        (Status::not_found("no\u{1b}[2J run"), Exit::Usage),
        (Status::invalid_argument("no\u{1b}[2J run"), Exit::Usage),
        (Status::failed_precondition("no\u{1b}[2J run"), Exit::Failed),
        (Status::unavailable("no\u{1b}[2J run"), Exit::Unreachable),
        (Status::internal("no\u{1b}[2J run"), Exit::Internal),
    ] {
        let fake = Fake::start(Answers { item: Err(status), ..Answers::default() });
        let ran = cantus(fake.home(), &["item", "r", "i"]).await;
        assert_eq!(ran.exit, exit, "{ran:?}");
        assert!(
            ran.notes.contains("no\\u{1b}[2J run") && ran.notes.starts_with("cantus: "),
            "{ran:?}"
        );
    }
}
