//! Keys and passwords of an installation: drawn once, readable by their owner only.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use cantus_proto::evidence::{SigningKey, Trust, TrustedKey};
use cantus_proto::ids::{RoleName, hex};
use cantus_proto::subjects::BusUser;

use super::{Config, Home, HomeError, RoleKindName};

/// Bytes of a bus password.
const PASSWORD_BYTES: usize = 24;

/// All secrets of one home.
pub struct Secrets {
    /// Signs summaries.
    pub coordinator: SigningKey,
    /// Signs evidence.
    pub verifier: SigningKey,
    /// Whose signatures count.
    pub trust: Trust,
    passwords: BTreeMap<String, String>,
    users: Vec<BusUser>,
}

impl Secrets {
    pub(super) fn open(home: &Home, config: &Config) -> Result<Self, HomeError> {
        let coordinator = key(&home.keys().join("coordinator.pem"))?;
        let verifier = key(&home.keys().join("verifier.pem"))?;
        let trust = trust(&home.trust_file(), &coordinator, &verifier)?;
        let users = users(config);
        let passwords = passwords(&home.keys().join("bus.json"), &users)?;
        Ok(Self { coordinator, verifier, trust, passwords, users })
    }

    /// The password of a bus user of the configuration.
    #[must_use]
    pub fn password(&self, user: &BusUser) -> String {
        self.passwords.get(&user.name()).cloned().unwrap_or_default()
    }

    /// All users with their passwords, for the bus's configuration.
    #[must_use]
    pub fn bus_users(&self) -> Vec<(BusUser, String)> {
        self.users.iter().map(|user| (user.clone(), self.password(user))).collect()
    }
}

/// The bus user of a role.
#[must_use]
pub(super) fn bus_user(name: &RoleName, kind: RoleKindName) -> BusUser {
    match kind {
        RoleKindName::Worker => BusUser::Worker(name.clone()),
        RoleKindName::Verifier => BusUser::Verifier(name.clone()),
    }
}

fn users(config: &Config) -> Vec<BusUser> {
    let roles = config
        .roles
        .iter()
        .filter_map(|(name, role)| Some(bus_user(&RoleName::new(name).ok()?, role.kind)));
    [BusUser::Coordinator, BusUser::Pool].into_iter().chain(roles).collect()
}

fn key(path: &Path) -> Result<SigningKey, HomeError> {
    let damaged = |problem: String| HomeError::Secret { path: path.to_owned(), problem };
    match fs::read_to_string(path) {
        Ok(pem) => SigningKey::from_pem(&pem).map_err(|error| damaged(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = SigningKey::generate().map_err(|error| damaged(error.to_string()))?;
            write_private(path, key.to_pem().as_bytes())?;
            Ok(key)
        }
        Err(source) => Err(HomeError::Io { what: "read", path: path.to_owned(), source }),
    }
}

fn trust(path: &Path, coordinator: &SigningKey, verifier: &SigningKey) -> Result<Trust, HomeError> {
    let damaged = |problem: String| HomeError::Secret { path: path.to_owned(), problem };
    match fs::read(path) {
        Ok(json) => Trust::parse(&json).map_err(|error| damaged(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let trusted = |key: &SigningKey| vec![TrustedKey::new(key.verifying_key(), None)];
            let trust = Trust::new(trusted(verifier), trusted(coordinator))
                .map_err(|error| damaged(error.to_string()))?;
            write_private(path, trust.to_json().as_bytes())?;
            Ok(trust)
        }
        Err(source) => Err(HomeError::Io { what: "read", path: path.to_owned(), source }),
    }
}

fn passwords(path: &Path, users: &[BusUser]) -> Result<BTreeMap<String, String>, HomeError> {
    let damaged = |problem: String| HomeError::Secret { path: path.to_owned(), problem };
    let mut passwords: BTreeMap<String, String> = match fs::read(path) {
        Ok(json) => serde_json::from_slice(&json).map_err(|error| damaged(error.to_string()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
        Err(source) => return Err(HomeError::Io { what: "read", path: path.to_owned(), source }),
    };
    let known = passwords.len();
    for user in users {
        if let std::collections::btree_map::Entry::Vacant(vacant) = passwords.entry(user.name()) {
            vacant.insert(draw(PASSWORD_BYTES).map_err(damaged)?);
        }
    }
    if passwords.len() > known {
        let json =
            serde_json::to_vec_pretty(&passwords).map_err(|error| damaged(error.to_string()))?;
        write_private(path, &json)?;
    }
    Ok(passwords)
}

/// Random bytes of the system, as hex.
pub(super) fn draw(bytes: usize) -> Result<String, String> {
    let mut drawn = vec![0; bytes];
    getrandom::fill(&mut drawn)
        .map_err(|error| format!("the system gave no random bytes: {error}"))?;
    Ok(hex(&drawn))
}

/// Writes a file that only its owner can read; whole or not at all.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), HomeError> {
    let io = |source| HomeError::Io { what: "write", path: path.to_owned(), source };
    let directory = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(directory).map_err(io)?;
    file.write_all(bytes).map_err(io)?;
    file.persist(path).map_err(|error| io(error.error))?;
    Ok(())
}
