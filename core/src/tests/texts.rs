//! Texts are shown safely and cut with their rest counted.

use super::super::text::{FINDINGS_MAX, TEXT_BYTES_MAX, bounded, cut, show};

#[test]
fn short_texts_stay_as_they_are() {
    assert_eq!(cut("as it is".to_owned()), "as it is");
    let full = "x".repeat(TEXT_BYTES_MAX);
    assert_eq!(cut(full.clone()), full);
    assert_eq!(bounded(vec!["one".to_owned(), String::new()]), ["one", ""]);
}

#[test]
fn long_texts_are_cut_between_characters_and_say_so() {
    let text = cut("é".repeat(TEXT_BYTES_MAX));
    assert!(
        text.ends_with(&format!("… ({TEXT_BYTES_MAX} bytes more)")),
        "{}",
        &text[TEXT_BYTES_MAX..]
    );
    let odd = cut(format!("x{}", "é".repeat(TEXT_BYTES_MAX)));
    assert!(odd.len() < TEXT_BYTES_MAX + 100);
    let many = bounded(vec!["x".repeat(TEXT_BYTES_MAX + 1); FINDINGS_MAX + 3]);
    assert_eq!(many.len(), FINDINGS_MAX + 1);
    assert!(many[0].ends_with("… (1 bytes more)"));
    assert_eq!(many[FINDINGS_MAX], "and 3 more");
}

#[test]
fn raw_bytes_are_visible() {
    assert_eq!(show(b"a\0b\r\xff\"'"), "a\\0b\\r\u{fffd}\\\"\\'");
}
