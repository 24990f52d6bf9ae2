package command

import (
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/internal/demo"
	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
	"github.com/countersign/countersign/sqlc"
)

// change runs a statement as an outside program would.
func change(t *testing.T, url, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(t.Context(), statement)
	if closed := conn.Close(t.Context()); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
}

// ask gives the one text that a query answers.
func ask(t *testing.T, url, query string) (answer string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	err = conn.QueryRow(t.Context(), query).Scan(&answer)
	if closed := conn.Close(t.Context()); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return answer
}

func TestWhatIsNotUnderstoodIsRefusedByName(t *testing.T) {
	t.Parallel()
	for _, refused := range []struct{ line, named string }{
		{"demo --frob", "--frob"},
		{"demo --dta /tmp", "--dta"},
		{"serve --port 1", "--port"},
		{"migrate --grant", "--grant"},
		{"frobnicate", "frobnicate"},
		{"demo extra", "extra"},
		{"token create --user a@b --name x --scopes read,decide", "decide"},
		{"token create --user a@b --name x", "--scopes"},
		{"user add --email a@b --name x --workspace y --role boss", "boss"},
	} {
		said, wrong, code := once(t, nil, strings.Fields(refused.line)...)
		if code != 2 || !strings.Contains(wrong, refused.named) || said != "" {
			t.Errorf("%s: ended with %d, %q, %q", refused.line, code, said, wrong)
		}
	}
}

func TestWithoutADatabaseACommandSaysHowToNameOne(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"serve --addr 127.0.0.1:0", "migrate", "token create --user a@b --name x --scopes read"} {
		if _, wrong, code := once(t, nil, strings.Fields(line)...); code != 1 || !strings.Contains(wrong, "DATABASE_URL") {
			t.Errorf("%s: ended with %d, %q", line, code, wrong)
		}
	}
}

func TestMigrateThenServe(t *testing.T) {
	t.Parallel()
	db := pgtest.Empty(t)
	environment := []string{"DATABASE_URL=" + db.OwnerURL, "COUNTERSIGN_CONFIG=" + registryFile(t), "COUNTERSIGN_ADDR=127.0.0.1:0"}
	if _, wrong, code := once(t, environment, "serve"); code != 1 || !strings.Contains(wrong, "countersign migrate") {
		t.Fatalf("serve on an empty database ended with %d: %s", code, wrong)
	}
	for range 2 {
		if said, wrong, code := once(t, environment, "migrate"); code != 0 || said != "" {
			t.Fatalf("migrate ended with %d: %s%s", code, said, wrong)
		}
	}
	if err := demo.Load(t.Context(), db.SuperuserURL); err != nil {
		t.Fatal(err)
	}
	p := serving(t, environment, "serve")
	if status, _ := get(t, p.ready+"/healthz"); status != 200 {
		t.Errorf("/healthz answers %d", status)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("SIGTERM: %v\n%s", err, p.wrong)
	}
}

func TestGrantsArePrintedAndNothingIsDone(t *testing.T) {
	t.Parallel()
	said, wrong, code := once(t, []string{"DATABASE_URL=postgres://nobody@nowhere.invalid/x"}, "migrate", "--grants", "--config", registryFile(t))
	if code != 0 || wrong != "" {
		t.Errorf("ended with %d: %s", code, wrong)
	}
	for _, wanted := range []string{"CREATE ROLE countersign_owner", `GRANT "harbor_write" TO countersign_gate;`, `GRANT "harbor_read" TO countersign_gate, countersign_agent, countersign_reader;`} {
		if !strings.Contains(said, wanted) {
			t.Errorf("%q is not in\n%s", wanted, said)
		}
	}
	said, wrong, code = once(t, nil, "migrate", "--grants")
	if code != 0 || !strings.Contains(said, "CREATE ROLE") || !strings.Contains(wrong, "--config") {
		t.Errorf("without a registry: ended with %d, %q", code, wrong)
	}
}

func TestAnAccountAndATokenAreMade(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	environment := []string{"DATABASE_URL=" + db.OwnerURL}
	said, wrong, code := once(t, environment, "user", "add", "--email", "Ada@Harbor.example", "--name", "Ada Byron", "--workspace", "harbor-mill", "--role", "approver")
	if code != 0 {
		t.Fatalf("user add ended with %d: %s", code, wrong)
	}
	service := identity.New(db.Pools.Identity, identity.Cookie{})
	in, err := service.SignIn(t.Context(), identity.Attempt{Email: "ada@harbor.example", Password: strings.TrimSpace(said), Kind: sqlc.SignInKindBearer, Address: "192.0.2.1"})
	if err != nil || in.Workspace.Slug != "harbor-mill" {
		t.Errorf("the password that was printed: %+v, %v", in, err)
	}
	if _, wrong, code = once(t, environment, "user", "add", "--email", "ada@harbor.example", "--name", "Ada", "--workspace", "harbor-mill"); code != 1 || !strings.Contains(wrong, "already") {
		t.Errorf("the same address again ended with %d: %s", code, wrong)
	}
	said, wrong, code = once(t, environment, "token", "create", "--user", "ada@harbor.example", "--name", "laptop", "--scopes", "read,propose")
	if code != 0 || !regexp.MustCompile(`^csa_[0-9A-Za-z]+\n$`).MatchString(said) {
		t.Errorf("token create ended with %d: %q %s", code, said, wrong)
	}
	if strings.Contains(wrong, "csa_") {
		t.Error("the token is in the log too")
	}
	if _, wrong, code = once(t, environment, "token", "create", "--user", "nobody@harbor.example", "--name", "x", "--scopes", "read"); code != 1 || !strings.Contains(wrong, "no account") {
		t.Errorf("a token for nobody ended with %d: %s", code, wrong)
	}
}

func TestAPasswordIsReadFromStandardInput(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	p := command(t, []string{"DATABASE_URL=" + db.OwnerURL}, "user", "add", "--email", "eva@harbor.example", "--name", "Eva", "--workspace", "new-site", "--password-stdin")
	p.Stdin = strings.NewReader("correct horse\n")
	if said, err := p.Output(); err != nil || len(said) > 0 {
		t.Fatalf("user add: %v, said %q, %s", err, said, p.wrong)
	}
	service := identity.New(db.Pools.Identity, identity.Cookie{})
	if in, err := service.SignIn(t.Context(), identity.Attempt{Email: "eva@harbor.example", Password: "correct horse", Kind: sqlc.SignInKindBearer, Address: "192.0.2.1"}); err != nil || in.Workspace.Slug != "new-site" {
		t.Errorf("signed in as %+v, %v", in, err)
	}
}

func TestTheVersionIsPrinted(t *testing.T) {
	t.Parallel()
	if said, _, code := once(t, nil, "version"); code != 0 || !strings.HasPrefix(said, "countersign ") {
		t.Errorf("ended with %d: %q", code, said)
	}
}
