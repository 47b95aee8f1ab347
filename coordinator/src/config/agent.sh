# A sample agent: any program that edits the current directory. It finds its order in $CANTUS_PROMPT (markdown) and
# $CANTUS_CONTRACT (yaml), and may write JSON lines to $CANTUS_OUTBOX/claims.jsonl and progress.jsonl; docs/AGENTS.md
# has all that it sees and may say.
set -eu
mkdir -p notes
echo "hello from $CANTUS_ITEM, attempt $CANTUS_ATTEMPT" > "notes/$CANTUS_ITEM.md"
