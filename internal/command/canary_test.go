package command

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

// Canaries look like secrets: a token of ours and what was planted where. Plain ones look like nothing at all,
// and are where no secret has to be recognised, since nothing of what is there may come out.
func bird(where string) string  { return "cst_" + strings.ReplaceAll(where, " ", "") + "Canary7391" }
func plain(where string) string { return "plum-" + strings.ReplaceAll(where, " ", "-") + "-7391" }

// stays says in which columns of ours a canary may be, and why. A column that is not here may hold none: that a
// new one does is noticed.
var stays = map[string]map[string]string{
	"the card, as it is shown to who decides and as it is written": {
		"proposal_records.before": "record", "proposal_records.changes": "record, input, nested, failing", "proposals.headline": "input, failing",
		"proposals.outcome_record": "input", "proposals.matched": "record", "proposals.changes": "record, input",
	},
	"what a person wrote": {
		"messages.content": "said", "conversations.title": "title, said", "proposal_decisions.reason": "reason",
	},
	"what the owner called it": {
		"api_tokens.name": "token name", "redaction_patterns.samples": "sample",
	},
}

// surface is one program at work, and all it has answered.
type surface struct {
	*caller
	answers []string
}

func (s *surface) send(method, path, body string, headers ...string) string {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.origin+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+s.token)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	answer, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	s.answers = append(s.answers, string(answer))
	return string(answer)
}

// gql asks with variables in JSON.
func (s *surface) gql(query, variables string) string {
	s.t.Helper()
	return s.send(http.MethodPost, "/graphql", fmt.Sprintf(`{"query": %q, "variables": %s}`, query, variables))
}

const (
	proposing  = `mutation($in: ProposeChangeInput!) { proposeChange(input: $in) { clientMutationId result { __typename ... on Proposal { id fingerprint status } ... on ProposalRefused { code message field } } } }`
	confirming = `mutation($in: DecideProposalInput!) { confirmProposal(input: $in) { result { __typename ... on Proposal { status failure { code message field } } } } }`
)

// proposed gives the id and the fingerprint of what was proposed.
func (s *surface) proposed(in string) (id, fingerprint string) {
	s.t.Helper()
	answer := s.gql(proposing, `{"in": `+in+`}`)
	id, fingerprint = between(answer, `"id":"`), between(answer, `"fingerprint":"`)
	if id == "" {
		s.t.Fatalf("%s is answered %s", in, answer)
	}
	return id, fingerprint
}

func (s *surface) confirmed(in, want string) {
	s.t.Helper()
	id, fingerprint := s.proposed(in)
	if answer := s.gql(confirming, fmt.Sprintf(`{"in": {"id": %q, "fingerprint": %q}}`, id, fingerprint)); !strings.Contains(answer, want) {
		s.t.Errorf("confirmed, and answered %s", answer)
	}
}

func between(s, before string) string {
	_, rest, _ := strings.Cut(s, before)
	found, _, _ := strings.Cut(rest, `"`)
	return found
}

// mined is Harbor Mill with canaries in its records, and a registry that hides one column and masks another.
func mined(t *testing.T) (db *pgtest.DB, registry string) {
	t.Helper()
	db = pgtest.New(t)
	change(t, db.OwnerURL, `SELECT 1`)
	change(t, db.SuperuserURL, `ALTER TABLE core.roles ADD COLUMN secret_note text, ADD COLUMN badge text, ADD COLUMN papers jsonb`)
	change(t, db.SuperuserURL, `ALTER TABLE core.roles ADD CONSTRAINT short CHECK (length(description) < 100)`)
	change(t, db.SuperuserURL, fmt.Sprintf(`UPDATE core.roles SET secret_note = '%s', badge = '%s', description = '%s' WHERE id IN (4, 7)`, plain("hidden"), plain("masked"), bird("record")))
	change(t, db.SuperuserURL, fmt.Sprintf(`UPDATE mrp.production_orders SET notes = '%s' WHERE order_number = 'PO-1042'`, bird("record")))
	yaml, err := os.ReadFile(registryFile(t))
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Replace(string(yaml), "      description: { writable: true }\n", "      description: { writable: true }\n      secret_note: { hidden: true }\n      badge: { writable: true, masked: true }\n      papers: { writable: true }\n", 1)
	registry = filepath.Join(t.TempDir(), "mined.yaml")
	if err := os.WriteFile(registry, []byte(said), 0o600); err != nil || said == string(yaml) {
		t.Fatal(err)
	}
	return db, registry
}

// raising makes every change of a role fail in a trigger that says all it knows.
func raising(sqlstate string) string {
	return fmt.Sprintf(`CREATE OR REPLACE FUNCTION public.tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION '%s %%', NEW USING ERRCODE = '%s', DETAIL = '%s', HINT = '%s'; END $$;
		CREATE OR REPLACE TRIGGER tell BEFORE UPDATE ON core.roles FOR EACH ROW EXECUTE FUNCTION public.tell()`, plain("raised"), sqlstate, plain("detail"), plain("hint"))
}

func role(id, changes string, more ...string) string {
	return fmt.Sprintf(`{"entity": "core.role", "operation": "UPDATE", "recordId": %q, "changes": %s%s}`, id, changes, strings.Join(more, ""))
}

// TestCanariesComeOutNowhere plants a secret wherever a value comes in or is kept, does what can be done and goes
// wrong, and then looks for each in all of our rows, in a dump, in the output of the program, and in what it
// answered.
func TestCanariesComeOutNowhere(t *testing.T) {
	t.Parallel()
	db, registry := mined(t)
	environment := []string{"DATABASE_URL=" + db.OwnerURL, "COUNTERSIGN_CONFIG=" + registry, "COUNTERSIGN_ADDR=127.0.0.1:0"}
	token, wrong, code := once(t, environment, "token", "create", "--user", "maria@harbor.example", "--name", bird("token name"), "--scopes", "read,propose,subscribe")
	if code != 0 {
		t.Fatal(wrong)
	}
	if _, wrong, code := once(t, environment, "pattern", "add", "--workspace", "harbor-mill", "--name", "samples", "--sample", bird("sample"), "quince-[0-9]+"); code != 1 || !strings.Contains(wrong, "finds nothing") {
		t.Fatalf("a sample that only a built-in pattern finds: %d %s", code, wrong)
	}
	if _, wrong, code := once(t, environment, "pattern", "add", "--workspace", "harbor-mill", "--name", "quinces", "--sample", "quince-1 "+bird("sample"), "quince-[0-9]+"); code != 0 {
		t.Fatal(wrong)
	}
	p := serving(t, environment, "serve")
	maria := &surface{caller: signIn(t, p.ready, "maria@harbor.example")}
	agent := &surface{caller: &caller{t: t, origin: p.ready, token: strings.TrimSpace(token)}}

	people(t, maria)
	for _, who := range []*surface{maria, agent} {
		inputs(who, maria)
	}
	talks(maria)
	databases(t, db, maria)
	cards := maria.gql(`{ proposals { edges { node { id headline assistantNote clientName summary { changes { field from { text masked } to { text masked } } } failure { message } decisions { reason } } } } }`, `{}`)
	maria.gql(`{ proposalEvents(first: 1000) { edges { node { cursor type status proposalId proposal { id status failure { code message } } } } } }`, `{}`)
	stream := followed(t, agent)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("it ended with %v", err)
	}

	seen := rows(t, db)
	allowed := map[string]string{}
	for _, columns := range stays {
		for column, birds := range columns {
			allowed[column] = birds
		}
	}
	for column, text := range seen {
		for _, where := range planted {
			if holds(text, where) && !slices.Contains(strings.Split(allowed[column], ", "), where) {
				t.Errorf("%s holds what was planted in %q", column, where)
			}
		}
	}
	for column, birds := range allowed {
		for _, where := range strings.Split(birds, ", ") {
			if !holds(seen[column], where) {
				t.Errorf("%s may hold %q and does not: nothing is planted there, or it need not be allowed", column, where)
			}
		}
	}
	everything := strings.Join(slices.Collect(valuesOf(allowed)), ", ")
	dump := dumped(t, db)
	for _, where := range planted {
		if !slices.Contains(strings.Split(everything, ", "), where) && dump != "" && holds(dump, where) {
			t.Errorf("the dump holds what was planted in %q", where)
		}
		for name, text := range map[string]string{"the program's output": p.said + p.wrong.String(), "the feed": stream} {
			if holds(text, where) {
				t.Errorf("%s holds what was planted in %q: %s", name, where, around(text, where))
			}
		}
		if slices.Contains(never, where) && holds(cards, where) {
			t.Errorf("a card holds what was planted in %q: %s", where, around(cards, where))
		}
	}
	for _, who := range []*surface{maria, agent} {
		for _, answer := range who.answers {
			for _, where := range planted {
				refused := !strings.Contains(answer, `"data":{"proposals`) && !strings.Contains(answer, `"userMessage"`) && !strings.Contains(answer, `"clientMutationId":"`)
				if holds(answer, where) && (refused || slices.Contains(never, where)) {
					t.Errorf("%s is answered, with what was planted in %q", around(answer, where), where)
				}
			}
		}
	}
	if !strings.Contains(p.wrong.String(), "SQLSTATE") || strings.Count(stream, "\ndata:")+strings.Count(stream, "\nid:") == 0 {
		t.Errorf("nothing was logged or followed, so that nothing could come out:\n%s\n%s", p.wrong, stream)
	}
}
