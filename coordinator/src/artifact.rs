//! Artifacts as a client fetches them: bounded, and checked against their digest before anybody sees a byte.

use cantus_proto::ids::{Blob, Digest};
use cantus_proto::wire::v1::ArtifactRequest;
use cantus_proto::wire::v1::cantus_client::CantusClient;
use tonic::Status;
use tonic::transport::Channel;

/// Why an artifact did not come.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// The call failed.
    #[error("the coordinator gave no artifact")]
    Call(#[from] Box<Status>),
    /// It is another one.
    #[error("an artifact has sha256 {found}, expected {wanted}")]
    Damaged {
        /// Of what came.
        found: Digest,
        /// As announced.
        wanted: Digest,
    },
}

/// Fetches one artifact of at most so many bytes.
///
/// # Errors
/// [`ArtifactError`] when the call fails, or when what came is not what the digest names.
pub async fn fetch(
    client: &mut CantusClient<Channel>,
    blob: &Blob,
    bytes_max: u64,
) -> Result<Vec<u8>, ArtifactError> {
    let request = ArtifactRequest { sha256: blob.sha256.to_string() };
    let mut chunks = client.artifact(request).await.map_err(Box::new)?.into_inner();
    let limit = blob.size_bytes.min(bytes_max);
    let mut bytes = Vec::new();
    while let Some(chunk) = chunks.message().await.map_err(Box::new)? {
        bytes.extend_from_slice(&chunk.data);
        // What is too much is not what was announced, and the digest says so.
        if bytes.len() as u64 > limit {
            break;
        }
    }
    let found = Digest::of(&bytes);
    if found != blob.sha256 {
        return Err(ArtifactError::Damaged { found, wanted: blob.sha256.clone() });
    }
    Ok(bytes)
}
