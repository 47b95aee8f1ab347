//! Changes far larger than their item, and exactly at the bound.

use super::{Complexity, FileChange, change, contract, findings, short};

fn lines(count: usize) -> String {
    (0..count).map(|n| format!("line {n}\n")).collect()
}

fn found(complexity: Complexity, changes: &[FileChange]) -> Vec<String> {
    short(&findings(&contract(), complexity, changes))
}

#[test]
fn five_times_the_lines_pass_and_one_more_does_not() {
    let of = |count| [change("a.txt", None, Some(&lines(count)))];
    assert!(found(Complexity::Small, &of(250)).is_empty());
    assert_eq!(found(Complexity::Small, &of(251)), ["large-refactor a.txt"]);
    assert!(found(Complexity::Medium, &of(1_000)).is_empty());
    assert_eq!(found(Complexity::Medium, &of(1_001)), ["large-refactor a.txt"]);
    assert!(found(Complexity::Large, &of(2_500)).is_empty());
    assert_eq!(found(Complexity::Large, &of(2_501)), ["large-refactor a.txt"]);
    assert!(found(Complexity::ExtraLarge, &of(100_000)).is_empty());
}

#[test]
fn five_times_the_files_pass_and_one_more_does_not() {
    let of = |count: usize| -> Vec<FileChange> {
        (0..count).map(|n| change(&format!("f{n:03}"), Some("a\n"), Some("b\n"))).collect()
    };
    for (complexity, files) in
        [(Complexity::Small, 5), (Complexity::Medium, 15), (Complexity::Large, 100)]
    {
        assert!(found(complexity, &of(files)).is_empty());
        assert_eq!(found(complexity, &of(files + 1)), ["large-refactor f000"]);
    }
}

#[test]
fn added_and_removed_lines_count_and_moved_ones_do_not() {
    let (old, new) = (lines(125), lines(125).replace("line", "row"));
    assert!(found(Complexity::Small, &[change("a", Some(&old), Some(&new))]).is_empty());
    let more = format!("{new}one more\n");
    let over = findings(&contract(), Complexity::Small, &[change("a", Some(&old), Some(&more))]);
    assert!(over[0].text.contains("251 lines changed, at most 250 may"), "{}", over[0]);
    let long = lines(5_000);
    let mut turned: Vec<&str> = long.lines().collect();
    turned.reverse();
    assert!(
        found(Complexity::Small, &[change("a", Some(&long), Some(&turned.join("\n")))]).is_empty()
    );
}

#[test]
fn files_that_only_move_are_counted_apart() {
    let moves = |count: usize| -> Vec<FileChange> {
        let one = |n: usize| {
            let text = lines(100 + n);
            [
                change(&format!("a/{n:02}"), Some(&text), None),
                change(&format!("b/{n:02}"), None, Some(&text)),
            ]
        };
        (0..count).flat_map(one).collect()
    };
    for complexity in [Complexity::Small, Complexity::Medium] {
        assert!(found(complexity, &moves(10)).is_empty());
        assert_eq!(found(complexity, &moves(11)), ["large-refactor b/00"]);
    }
    assert!(found(Complexity::Large, &moves(11)).is_empty());
    assert_eq!(found(Complexity::Large, &moves(101)), ["large-refactor b/00"]);
    // The same bytes twice elsewhere: one moved, one is new.
    let text = lines(251);
    let copied = [
        change("a", Some(&text), None),
        change("b", None, Some(&text)),
        change("c", None, Some(&text)),
    ];
    assert_eq!(found(Complexity::Small, &copied), ["large-refactor c"]);
}

#[test]
fn locks_and_binaries_have_no_lines() {
    let changes = [
        change("Cargo.lock", Some(""), Some(&lines(10_000))),
        change("x.dat", None, Some(&format!("\0{}", lines(10_000)))),
    ];
    assert!(found(Complexity::Small, &changes).is_empty());
}
