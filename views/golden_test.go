package views_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/a-h/templ"
	"github.com/jackc/pgx/v5/pgtype"
)

type pgUUID = pgtype.UUID

var update = flag.Bool("update", false, "write the pages as they are now to testdata")

func render(t *testing.T, c templ.Component) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.Render(context.Background(), &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPagesAreAsTheyWere(t *testing.T) {
	for name, page := range pages() {
		t.Run(name, func(t *testing.T) {
			got := render(t, page)
			path := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s is not as in %s; look at the difference, and if it is meant: go test ./views -update", name, path)
			}
		})
	}
}
