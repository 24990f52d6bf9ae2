package guards

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const document = "../../docs/guards.md"

// guard is a row of the document: what is taken out by which patch, and what turns red then.
type guard struct {
	what     string
	promises []string
	places   []string
	patch    string
	pkg      string
	test     string
	says     string // part of what the test says then; "" where its failure can mean nothing else
}

var (
	span    = regexp.MustCompile("`([^`]+)`")
	promise = regexp.MustCompile(`^G([1-9]|1[0-8])$`)
)

// table reads the document.
func table(t *testing.T) []guard {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var list []guard
	for n, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Guard |") {
			continue
		}
		g, err := row(line)
		if err != nil {
			t.Fatalf("%s:%d: %v", document, n+1, err)
		}
		list = append(list, g)
	}
	if len(list) == 0 {
		t.Fatalf("%s holds no table", document)
	}
	return list
}

func row(line string) (guard, error) {
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	if len(cells) != 5 {
		return guard{}, fmt.Errorf("%d cells, want guard, promise, where it stands, patch, what turns red", len(cells))
	}
	patch, red := spans(cells[3]), spans(cells[4])
	if len(patch) != 1 || len(red) < 2 || len(red) > 3 {
		return guard{}, fmt.Errorf("want one patch, and a package, a test and at most one phrase: %s | %s", cells[3], cells[4])
	}
	g := guard{what: cells[0], promises: strings.Split(cells[1], ", "), places: spans(cells[2]), patch: patch[0], pkg: red[0], test: red[1]}
	if len(red) == 3 {
		g.says = red[2]
	}
	return g, nil
}

func spans(cell string) []string {
	var list []string
	for _, found := range span.FindAllStringSubmatch(cell, -1) {
		list = append(list, found[1])
	}
	return list
}

// Every patch has its row and every row its patch, and a row says rightly where its guard stands.
func TestTheTableIsOfThePatchesThereAre(t *testing.T) {
	rows := map[string]guard{}
	for _, g := range table(t) {
		if _, twice := rows[g.patch]; twice {
			t.Errorf("%s has two rows", g.patch)
		}
		rows[g.patch] = g
		if touched := touches(t, g.patch); !slices.Equal(touched, g.places) {
			t.Errorf("%s stands in %s, and its patch touches %s", g.patch, g.places, touched)
		}
		for _, p := range g.promises {
			if !promise.MatchString(p) {
				t.Errorf("%s: %q is no promise", g.patch, p)
			}
		}
		if g.pkg == "internal/guards" || !strings.HasPrefix(g.test, "Test") {
			t.Errorf("%s turns %s of %s red, which is not run here", g.patch, g.test, g.pkg)
		}
	}
	patches, err := filepath.Glob("testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range patches {
		if name, ok := strings.CutSuffix(filepath.Base(file), ".patch"); !ok || rows[name].patch == "" {
			t.Errorf("%s is not in %s", file, document)
		}
	}
}

// touches are the files that a patch changes, but for those that are generated from others of them.
func touches(t *testing.T, patch string) []string {
	t.Helper()
	text, err := os.ReadFile(file(patch))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "+++ b/"); ok && !strings.HasPrefix(name, "sqlc/") {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func file(patch string) string { return filepath.Join("testdata", patch+".patch") }
