package command

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/identity"
	"github.com/countersign/countersign/internal/pgtest"
)

func TestATokenIsListedAndRevoked(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	environment := []string{"DATABASE_URL=" + db.OwnerURL}
	secret := db.APIToken(t, "maria@harbor.example", "read", "subscribe")
	db.APIToken(t, "sam@harbor.example", "read")
	all, wrong, code := once(t, environment, "token", "list")
	if code != 0 || !strings.Contains(all, "maria@harbor.example") || !strings.Contains(all, "sam@harbor.example") || strings.Contains(all, "csa_") {
		t.Fatalf("token list ended with %d: %s%s", code, all, wrong)
	}
	mine, wrong, code := once(t, environment, "token", "list", "--user", "Maria@harbor.example")
	token := regexp.MustCompile(`(?m)^tok_\w+`).FindString(mine)
	if code != 0 || strings.Contains(mine, "sam@") || token == "" || !strings.Contains(mine, "read,subscribe") {
		t.Fatalf("token list of one ended with %d: %s%s", code, mine, wrong)
	}
	answers := func() error {
		r := (&http.Request{Header: http.Header{"Authorization": {"Bearer " + secret}}}).WithContext(t.Context())
		_, err := identity.New(db.Pools.Identity, identity.Cookie{}).Authenticate(r)
		return err
	}
	if err := answers(); err != nil {
		t.Fatal(err)
	}
	if said, wrong, code := once(t, environment, "token", "revoke", token); code != 0 || said != "" {
		t.Fatalf("token revoke ended with %d: %s%s", code, said, wrong)
	}
	if answers() == nil {
		t.Error("a revoked token is taken")
	}
	if mine, _, _ = once(t, environment, "token", "list", "--user", "maria@harbor.example"); !strings.Contains(mine, "revoked ") {
		t.Errorf("then it lists %s", mine)
	}
	for _, bad := range []string{token, "csa_x"} {
		if _, wrong, code := once(t, environment, "token", "revoke", bad); code != 1 || !strings.Contains(wrong, "token") {
			t.Errorf("token revoke %s ended with %d: %s", bad, code, wrong)
		}
	}
}
