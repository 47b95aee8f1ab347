//! The wire between entry and helper; the steps themselves are tested where they are.

use super::{Collected, parse_collected};

#[test]
fn an_answer_is_a_line_and_a_bundle() {
    let line = b"{\"head\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\",\"kept\":null,\"findings\":[\"f\"],\
        \"broken\":null,\"bundle\":true}\n";
    let answer = [line.as_slice(), b"# v2 git bundle\n\nPACK\n"].concat();
    let Collected { head, kept, bundle, findings, broken } = parse_collected(answer).unwrap();
    assert_eq!(head.as_str(), "a".repeat(40));
    assert_eq!((kept, broken), (None, None));
    assert_eq!(bundle.unwrap(), b"# v2 git bundle\n\nPACK\n");
    assert_eq!(findings, ["f"]);
}

#[test]
fn anything_else_is_refused() {
    for bad in [
        &b""[..],
        b"no line",
        b"{}\n",
        b"{\"head\":\"../x\",\"kept\":null,\"findings\":[],\"broken\":null,\"bundle\":false}\n",
    ] {
        assert!(parse_collected(bad.to_vec()).is_err());
    }
}
