//! Finds the name that was probably meant. Pure; bounded by the caller's number of candidates.

/// Longest name, in characters, that a suggestion is looked for.
const NAME_CHARS_MAX: usize = 80;

/// The candidate closest to `name`, if one is close enough to be a slip of the hand; the first of equals.
pub(super) fn nearest<'a>(
    name: &str,
    candidates: impl Iterator<Item = &'a str>,
) -> Option<&'a str> {
    let name: Vec<char> = name.chars().take(NAME_CHARS_MAX + 1).collect();
    if name.is_empty() || name.len() > NAME_CHARS_MAX {
        return None;
    }
    let slips_max = match name.len() {
        0..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let limit = best.map_or(slips_max, |(slips, _)| slips - 1);
        if let Some(slips) = distance(&name, candidate, limit) {
            if slips == 0 {
                return Some(candidate);
            }
            best = Some((slips, candidate));
            if slips == 1 {
                break;
            }
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Insertions, deletions, substitutions and swaps of neighbours, if not more than `limit`.
fn distance(left: &[char], right: &str, limit: usize) -> Option<usize> {
    if right.len() > left.len() * 4 + limit * 4 {
        return None;
    }
    let right: Vec<char> = right.chars().collect();
    if left.len().abs_diff(right.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut row = Vec::with_capacity(right.len() + 1);
        row.push(i + 1);
        for (j, r) in right.iter().enumerate() {
            let mut cost = (above[j] + usize::from(!l.eq_ignore_ascii_case(r)))
                .min(above[j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        if row.iter().min().is_some_and(|least| *least > limit) {
            return None;
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|slips| *slips <= limit)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_is_mended_and_a_stranger_is_not() {
        let keys = ["goal", "deliverables", "acceptance_criteria", "budgets"];
        let of = |name| nearest(name, keys.into_iter());
        assert_eq!(of("gaol"), Some("goal"));
        assert_eq!(of("Goal"), Some("goal"));
        assert_eq!(of("acceptance_critera"), Some("acceptance_criteria"));
        assert_eq!(of("budget"), Some("budgets"));
        assert_eq!(of("xyz"), None);
        assert_eq!(of(""), None);
        assert_eq!(of(&"x".repeat(1000)), None);
    }
}
