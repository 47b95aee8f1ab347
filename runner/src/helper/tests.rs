//! The wire between entry and helper; the steps themselves are tested where they are.

use super::look::parse_look;
use super::{Collected, Look, parse_collected};

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

#[test]
fn a_look_is_a_line_and_raw_paths() {
    let line = b"{\"commits\":2,\"changed_count\":3,\"fingerprint\":\"f\"}\na\nb\0\xff\0";
    let Look { commits, changed, changed_count, fingerprint } = parse_look(line).unwrap();
    assert_eq!((commits, changed_count, fingerprint.as_str()), (2, 3, "f"));
    assert_eq!(changed, [b"a\nb".to_vec(), vec![0xff]]);
    for bad in [&b""[..], b"{}\n", b"{\"commits\":-1,\"changed_count\":3,\"fingerprint\":\"f\"}\n"]
    {
        assert!(parse_look(bad).is_err());
    }
}
