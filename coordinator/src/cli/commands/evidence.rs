//! `cantus evidence`: fetch, check, show, export.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use cantus_proto::contract::Contract;
use cantus_proto::evidence::dossier::manifest;
use cantus_proto::ids::{ItemId, RunId, TreeId};
use cantus_proto::wire::v1::{EvidenceRequest, ItemRequest};

use crate::cli::args::EvidenceArgs;
use crate::cli::client::{ANSWER_MAX, Client, Place};
use crate::cli::error::CliError;
use crate::cli::exit::Exit;
use crate::cli::output::Output;
use crate::cli::proof::{self, Asked, Proof};
use crate::cli::render::evidence as render;
use crate::cli::{text, trust};
use crate::config::Home;

/// The list of digests in an export, as `sha256sum --check` reads it.
const SUMS: &str = "SHA256SUMS";
/// Longest file name, in bytes, on the file systems that people have.
const NAME_BYTES_MAX: usize = 255;

/// See the module.
pub(in crate::cli) async fn evidence(
    home: &Home,
    args: &EvidenceArgs,
    output: &mut Output<'_>,
) -> anyhow::Result<Exit> {
    let trust = trust::read(args.trust.as_deref(), home)?;
    let client = Client::connect(Place::choose(args.server.connect.as_deref(), home)).await?;
    let mut api = client.api.clone();
    let (run, item) = (args.run.clone(), args.item.clone());
    let view = client.answer(ANSWER_MAX, api.item(ItemRequest { run, item })).await?;
    let (run, item) = (args.run.clone(), args.item.clone());
    let response = client.answer(ANSWER_MAX, api.evidence(EvidenceRequest { run, item })).await?;
    let contract =
        view.contract.ok_or_else(|| anyhow::anyhow!("the coordinator sent no contract"))?;
    let asked = Asked {
        run: &RunId::new(&args.run)?,
        item: &ItemId::new(&args.item)?,
        tree: &TreeId::new(&response.tree)?,
        contract: &Contract::try_from(contract)?,
    };
    let proof = proof::check(&asked, &response, &trust);
    if args.server.json {
        output.json(&render::json(&args.run, &args.item, &response, &proof), false)?;
    } else {
        let shown = render::evidence(&args.run, &args.item, &response, &proof, output.paint);
        output.print(&shown)?;
    }
    if let Some(directory) = &args.out {
        export(directory, &proof)?;
        let shown = text::safe(&directory.to_string_lossy());
        output
            .note(&format!("written to {shown}; check with: cd {shown} && sha256sum -c {SUMS}"))?;
    }
    Ok(if proof.holds() { Exit::Ok } else { Exit::Failed })
}

/// Writes the files to a directory that has none of them: nothing is overwritten, and no name leads out.
fn export(directory: &Path, proof: &Proof) -> anyhow::Result<()> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| CliError::Write { path, source }
    };
    if let Some(name) = proof.files.keys().find(|name| !is_plain(name)) {
        anyhow::bail!(
            "the coordinator sent a file named {name:?}, which is no name for evidence: nothing was written"
        );
    }
    fs::create_dir_all(directory).map_err(failed(directory))?;
    let (sums, _) = manifest(&proof.files);
    let files = proof.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    for (name, bytes) in files.chain([(SUMS, sums.as_bytes())]) {
        let path = directory.join(name);
        let mut file = fs::File::create_new(&path).map_err(failed(&path))?;
        file.write_all(bytes).map_err(failed(&path))?;
    }
    Ok(())
}

/// A token with a suffix, as [`cantus_proto::evidence::dossier`] names its files.
fn is_plain(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-=.".contains(&b);
    name.bytes().all(plain)
        && !name.starts_with('.')
        && name.ends_with(".json")
        && name.len() <= NAME_BYTES_MAX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_directory() {
        for name in ["AC-01.dsse.json", "AC=2E1.receipt.json", "summary.vsa.dsse.json"] {
            assert!(is_plain(name), "{name}");
        }
        for name in
            ["../x.json", "/x.json", "..json/x.json", ".x.json", "", "SHA256SUMS", "a\nb.json"]
        {
            assert!(!is_plain(name), "{name}");
        }
    }

    #[test]
    fn nothing_is_overwritten() {
        let directory = tempfile::tempdir().unwrap();
        let files = [("AC-01.dsse.json".to_owned(), b"{}".to_vec())].into();
        let proof = Proof { criteria: Default::default(), findings: vec![], notes: vec![], files };
        let out = directory.path().join("new/out");
        export(&out, &proof).unwrap();
        let sums = fs::read_to_string(out.join(SUMS)).unwrap();
        assert!(sums.ends_with("  AC-01.dsse.json\n"), "{sums}");
        let error = export(&out, &proof).unwrap_err();
        assert!(error.to_string().contains("out/AC-01.dsse.json"), "{error}");
        assert_eq!(Exit::of(&error), Exit::Usage);
    }
}
