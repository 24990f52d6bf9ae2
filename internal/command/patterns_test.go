package command

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/pgtest"
)

func TestAPatternIsAddedListedAndRemoved(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	environment := []string{"DATABASE_URL=" + db.OwnerURL}
	run := func(wantCode int, wantWords string, arguments ...string) string {
		t.Helper()
		said, wrong, code := once(t, environment, append([]string{"pattern"}, arguments...)...)
		if code != wantCode || !strings.Contains(said+wrong, wantWords) {
			t.Errorf("pattern %q ended with %d: %s%s", arguments, code, said, wrong)
		}
		return said
	}
	add := []string{"add", "--workspace", "harbor-mill", "--name", "order numbers", "--sample", "see PO-1042, please", "--leave", "a PO box"}
	run(1, "cannot be read at character 4", append(add, "PO-[0-9+")...)
	run(1, "finds nothing in the sample", append(add, "PX-[0-9]+")...)
	run(1, "which it is to leave", append(add, "PO.*")...)
	run(2, "--sample", "add", "--workspace", "harbor-mill", "--name", "x", "PO-[0-9]+")
	if list := run(0, "", "list"); strings.Contains(list, "PO-") {
		t.Errorf("what was refused is listed: %s", list)
	}
	run(0, "", append(add, "PO-[0-9]+")...)
	run(1, "already", append(add, "PO-[0-9]+")...)
	for workspace, there := range map[string]bool{"harbor-mill": true, "other-site": false} {
		if list := run(0, "PATTERN", "list", "--workspace", workspace); strings.Contains(list, "order numbers  PO-[0-9]+") != there {
			t.Errorf("%s lists %s", workspace, list)
		}
	}
	run(0, "", "remove", "--workspace", "harbor-mill", "order numbers")
	run(1, "there is no pattern", "remove", "--workspace", "harbor-mill", "order numbers")
}
