//! Whose a container, volume or network is: names and labels, and whether the pool that made it still lives.
//!
//! Names are deterministic, so that a request whose answer was lost can be found again; labels are what the
//! sweeper goes by. Nothing here talks to Docker.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::{Mutex, MutexGuard};

use cantus_proto::ids::{ContainerName, Digest, HostName, RoleName};

/// Label: the installation.
pub const INSTANCE: &str = "cantus.instance";
/// Label: what it is, see [`Kind`].
pub const KIND: &str = "cantus.kind";
/// Label: the role that it serves.
pub const ROLE: &str = "cantus.role";
/// Label: the host name of its pool.
pub const HOST: &str = "cantus.host";
/// Label: the pool process that made it, see [`PoolId`].
pub const POOL: &str = "cantus.pool";
/// Label of a volume: the image of its container, which salvage runs again.
pub const IMAGE: &str = "cantus.image";
/// Label: digest of everything that decides a container, by which a change is seen.
pub const RECIPE: &str = "cantus.recipe";

/// Longest instance id in bytes: it is part of every container name.
pub const INSTANCE_BYTES_MAX: usize = 32;
/// Longest part that host and role have in a container name, in bytes: a container name has 80 at most.
const NAME_PART_BYTES_MAX: usize = 12;

/// What a container or volume is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Runs an agent.
    Worker,
    /// Runs checkers.
    Verifier,
    /// Saves what a dead worker left.
    Salvage,
    /// The NATS server.
    Bus,
}

impl Kind {
    /// The label's value.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Verifier => "verifier",
            Self::Salvage => "salvage",
            Self::Bus => "bus",
        }
    }

    /// Reads a label's value.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Worker, Self::Verifier, Self::Salvage, Self::Bus]
            .into_iter()
            .find(|kind| kind.as_str() == text)
    }
}

/// One run of a pool: process id, its start in clock ticks since boot, the boot, and which pool of the process.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(String);

/// The pools that run in this process, and the number of the last one that began.
static RUNNING: Mutex<(BTreeSet<u64>, u64)> = Mutex::new((BTreeSet::new(), 0));

/// Keeps a pool of this process alive in the eyes of the others.
#[derive(Debug)]
pub struct PoolAlive(u64);

impl Drop for PoolAlive {
    fn drop(&mut self) {
        running().0.remove(&self.0);
    }
}

fn running() -> MutexGuard<'static, (BTreeSet<u64>, u64)> {
    RUNNING.lock().expect("nobody panics while it is held")
}

impl PoolId {
    /// A new pool in this process, which is alive until the second value goes.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn begin() -> std::io::Result<(Self, PoolAlive)> {
        let process = Self::of_process(std::process::id())?;
        let mut running = running();
        running.1 += 1;
        let number = running.1;
        running.0.insert(number);
        Ok((Self(format!("{process}.{number}")), PoolAlive(number)))
    }

    /// A process of this machine that is no pool.
    pub fn of_process(pid: u32) -> std::io::Result<Self> {
        let start = start_ticks(pid)
            .ok_or_else(|| std::io::Error::other(format!("/proc/{pid}/stat cannot be read")))?;
        Ok(Self(format!("{pid}.{start}.{}", boot()?)))
    }

    /// Its process id.
    pub fn pid(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(self.0.split('.').next()?.parse().ok()?)
    }

    /// As it stands in a label; it need not be well formed, then it is nobody's.
    #[must_use]
    pub fn from_label(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The label's value.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether that very pool still runs on this machine.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let mut parts = self.0.split('.');
        let (Some(pid), Some(start), Some(its_boot)) = (parts.next(), parts.next(), parts.next())
        else {
            return false;
        };
        let Ok(pid) = pid.parse::<u32>() else { return false };
        let process_lives = boot().is_ok_and(|boot| boot == its_boot)
            && start_ticks(pid).is_some_and(|ticks| ticks == start);
        // Of another process we cannot know which of its pools run: all of them, as long as it does.
        let of_ours = parts.next().filter(|_| pid == std::process::id());
        let pool_runs = of_ours
            .is_none_or(|number| number.parse().is_ok_and(|number| running().0.contains(&number)));
        process_lives && pool_runs
    }
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Field 22 of `/proc/<pid>/stat`; the command before it may hold spaces and brackets, so count from its end.
fn start_ticks(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, after_command) = stat.rsplit_once(')')?;
    let mut fields = after_command.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return None; // a zombie holds nothing: no socket, no lock, no relay
    }
    fields.nth(18).map(str::to_owned)
}

fn boot() -> std::io::Result<String> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(id.chars().filter(char::is_ascii_hexdigit).take(8).collect())
}

/// Who owns what a pool makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The installation.
    pub instance: String,
    /// The host name of the pool.
    pub host: HostName,
    /// The pool process.
    pub pool: PoolId,
}

impl Owner {
    /// The labels of something that this owner makes for a role.
    #[must_use]
    pub fn labels(&self, kind: Kind, role: &RoleName) -> HashMap<String, String> {
        [
            (INSTANCE, self.instance.as_str()),
            (KIND, kind.as_str()),
            (ROLE, role.as_str()),
            (HOST, self.host.as_str()),
            (POOL, self.pool.as_str()),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
    }

    /// The name of this pool's container number `number` for a role: unique over pools, hosts and restarts.
    #[must_use]
    pub fn container_name(&self, role: &RoleName, number: u64) -> ContainerName {
        let pool = Digest::of(format!("{}\n{}", self.host, self.pool).as_bytes());
        let pool = &pool.as_str()[..8];
        let name = format!("cantus-{}-{}-{pool}-{number}", self.instance, name_part(role.as_str()));
        ContainerName::new(name).expect("every part has its limit, and none has control characters")
    }
}

/// A text as part of a Docker name: kept when it is short and plain, else its plain beginning and its digest.
fn name_part(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.len() <= NAME_PART_BYTES_MAX && text.chars().all(plain) {
        return text.to_owned();
    }
    let beginning: String =
        text.chars().filter(|c| plain(*c)).take(NAME_PART_BYTES_MAX / 2).collect();
    format!("{beginning}.{}", &Digest::of(text.as_bytes()).as_str()[..6])
}

/// Why an instance id cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "instance id {instance:?} is not usable: it needs 1 to {INSTANCE_BYTES_MAX} of a-z, 0-9 and -, not at the ends"
)]
pub struct InstanceError {
    /// What was given.
    pub instance: String,
}

/// Checks an instance id: it becomes part of names and label filters.
///
/// # Errors
/// [`InstanceError`] says what is allowed.
pub fn check_instance(instance: &str) -> Result<(), InstanceError> {
    let allowed =
        instance.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let ends = instance.starts_with('-') || instance.ends_with('-');
    if instance.is_empty() || instance.len() > INSTANCE_BYTES_MAX || !allowed || ends {
        return Err(InstanceError { instance: instance.chars().take(80).collect() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(host: &str) -> Owner {
        Owner {
            instance: "test-a".into(),
            host: HostName::new(host).unwrap(),
            pool: PoolId::from_label("1.2.abc"),
        }
    }

    #[test]
    fn a_pool_of_this_process_lives_until_it_ends_and_others_with_its_number_do_not() {
        let (me, alive) = PoolId::begin().unwrap();
        let (other, other_alive) = PoolId::begin().unwrap();
        assert!(me.is_alive() && other.is_alive() && me != other);
        drop(other_alive);
        assert!(me.is_alive() && !other.is_alive());
        let parts: Vec<_> = me.as_str().split('.').collect();
        let [pid, start, boot, number] = parts[..] else { panic!("{me}") };
        let later = start.parse::<u64>().unwrap() + 1;
        assert!(!PoolId::from_label(&format!("{pid}.{later}.{boot}.{number}")).is_alive());
        assert!(!PoolId::from_label(&format!("{pid}.{start}.00000000.{number}")).is_alive());
        assert!(PoolId::of_process(std::process::id()).unwrap().is_alive());
        for malformed in ["", "x", "1", "1.2", "-1.2.3"] {
            assert!(!PoolId::from_label(malformed).is_alive(), "{malformed}");
        }
        drop(alive);
        assert!(!me.is_alive());
    }

    #[test]
    fn names_are_docker_names_within_the_limit_and_distinct() {
        let long = "r".repeat(80);
        let names: Vec<String> = ["worker", "wörker", "a b", "a.b", long.as_str()]
            .iter()
            .map(|role| owner("h").container_name(&RoleName::new(role).unwrap(), 12).to_string())
            .collect();
        for name in &names {
            assert!(name.len() <= 80, "{name}");
            assert!(
                name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b)),
                "{name}"
            );
        }
        let distinct: std::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(distinct.len(), names.len());
        let role = RoleName::new("worker").unwrap();
        assert_ne!(owner("h1").container_name(&role, 1), owner("h2").container_name(&role, 1));
        let longest = Owner { instance: "i".repeat(INSTANCE_BYTES_MAX), ..owner("h") };
        let name = longest.container_name(&RoleName::new(&long).unwrap(), 10_u64.pow(15) - 1);
        assert!(name.as_str().len() <= 80, "{name}");
    }

    #[test]
    fn instance_ids_are_plain() {
        assert!(check_instance("test-1").is_ok());
        for refused in ["", "-a", "a-", "A", "a b", "a/b", &"x".repeat(33)] {
            assert!(check_instance(refused).is_err(), "{refused}");
        }
    }
}
