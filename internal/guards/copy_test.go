package guards

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// copied is a copy of the repository, for patches. It is always at the same place, since what Go has built of
// a package is found again by where the package is; who comes meanwhile waits.
type copied struct {
	t    *testing.T
	path string
	env  []string
}

func copyRepository(t *testing.T, env ...string) *copied {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte(root))
	c := &copied{t: t, path: filepath.Join(os.TempDir(), "countersign-guards-"+hex.EncodeToString(digest[:6]))}
	// Neither git nor the tests look further up than the copy.
	c.env = append(os.Environ(), append(env, "CGO_ENABLED=0", "GOWORK=off", "COUNTERSIGN_GUARDS=none", "GIT_CEILING_DIRECTORIES="+filepath.Dir(c.path))...)
	c.alone()
	if err := os.RemoveAll(c.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(c.path) })
	for _, name := range files(t, root) {
		if err := c.take(root, name); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// alone waits until no other process has the copy.
func (c *copied) alone() {
	c.t.Helper()
	lock, err := os.OpenFile(c.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = lock.Close() })
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		c.t.Fatal(err)
	}
}

// files are those of the repository: what git tracks or would; without git, all but what is known to be no part.
func files(t *testing.T, root string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	if out, err := list.Output(); err == nil {
		return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	}
	var names []string
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || d.Name() == "bin"):
			return fs.SkipDir
		case d.Type().IsRegular():
			names = append(names, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// take copies one file; one that git tracks may be gone.
func (c *copied) take(root, name string) error {
	content, err := os.ReadFile(filepath.Join(root, name))
	if os.IsNotExist(err) {
		return nil
	} else if err != nil {
		return err
	}
	to := filepath.Join(c.path, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o644)
}

// run runs a program in the copy and gives what it wrote.
func (c *copied) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir, command.Env = c.path, c.env
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	err := command.Run()
	return out.String(), err
}

// without takes a guard out until the test ends.
func (c *copied) without(t *testing.T, g guard) {
	t.Helper()
	patch, err := filepath.Abs(file(g.patch))
	if err != nil {
		t.Fatal(err)
	}
	if out, err := c.run(t, "git", "apply", patch); err != nil {
		t.Fatalf("the patch does not apply any more: look where the guard stands now, and make it anew\n%s", out)
	}
	t.Cleanup(func() {
		back := exec.Command("git", "apply", "--reverse", patch)
		back.Dir, back.Env = c.path, c.env
		if out, err := back.CombinedOutput(); err != nil {
			c.t.Fatalf("%s was not taken back: %s", g.patch, out)
		}
	})
}
