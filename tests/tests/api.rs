//! The API as other programs meet it: over the socket, with health and reflection, and a first plan of one's own.

use cantus_tests::installation::{Installation, Role, git};
use tonic::transport::Endpoint;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_reflection::pb::v1::{
    ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
    server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
};

/// `init`, `up`, `submit` with what `init` wrote: the first steps of the README, and what the socket then says.
#[tokio::test]
async fn first_steps_and_the_socket() {
    let cantus = Installation::new(&[Role::verifier(1)]);
    let config = cantus.home().join("cantus.yaml");
    let port = std::fs::read_to_string(&config).unwrap();
    let port = port.lines().find(|line| line.starts_with("bus:")).unwrap().to_owned();
    cantus.run(&["init", "--force"]);
    let text = std::fs::read_to_string(&config).unwrap();
    let text = text.replace("bus:\n  port: 4222", &port);
    assert!(text.contains(&port), "{text}");
    std::fs::write(&config, text).unwrap();
    assert!(cantus.home().join("agent/run.sh").is_file());
    cantus.run(&["up"]);

    let channel =
        Endpoint::from_shared(format!("unix://{}", cantus.home().join("cantus.sock").display()))
            .unwrap()
            .connect()
            .await
            .unwrap();
    let request = HealthCheckRequest { service: "cantus.v1.Cantus".to_owned() };
    let health = HealthClient::new(channel.clone()).check(request).await.unwrap();
    assert_eq!(
        health.into_inner().status(),
        tonic_health::pb::health_check_response::ServingStatus::Serving
    );
    let list = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let requests = tokio_stream::once(list);
    let mut answers = ServerReflectionClient::new(channel)
        .server_reflection_info(requests)
        .await
        .unwrap()
        .into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(services) = answer else { panic!("{answer:?}") };
    let names: Vec<&str> = services.service.iter().map(|service| service.name.as_str()).collect();
    assert!(names.contains(&"cantus.v1.Cantus"), "{names:?}");

    let repository = cantus.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    git(&repository, &["init", "--quiet", "--initial-branch=main"]);
    git(&repository, &["commit", "--quiet", "--allow-empty", "-m", "begin"]);
    let plan = cantus.path().join("plan.yaml");
    std::fs::write(&plan, PLAN).unwrap();
    let (plan, at) = (plan.display().to_string(), repository.display().to_string());
    let said = cantus.run(&["submit", &plan, "--repository", &at, "--run", "first", "--watch"]);
    assert!(said.contains("cantus/first"), "{said}");
    git(&repository, &["merge", "--quiet", "--ff-only", "cantus/first"]);
    assert!(std::fs::read_to_string(repository.join("notes/hello.md")).unwrap().contains("hello"));
    cantus.run(&["audit", &at]);
    let evidence = cantus.run(&["evidence", "first", "hello"]);
    assert!(evidence.contains("summary.vsa.dsse.json"), "{evidence}");
}

const PLAN: &str = r#"version: 1
items:
  - id: hello
    complexity: S
    contract:
      goal: "A note says hello"
      deliverables: ["notes/hello.md with one line"]
      acceptance_criteria:
        - {id: AC-01, statement: "the note is there", checker: "grep -q hello notes/hello.md"}
      non_goals: ["any other file"]
      allowed_scope: {paths: ["notes/"], tools: ["edit"]}
      budgets: {wall_clock_minutes: 5, token_budget: 1000}
      forbidden_actions: ["network_egress"]
"#;
