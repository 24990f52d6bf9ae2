//go:build unix && !linux

package postgres

import (
	"os/exec"
)

// isolate keeps a ^C at the terminal from reaching the server before this process has let go of it.
// Here nothing stops the server when this process is killed: the next start does.
func isolate(command *exec.Cmd) { command.SysProcAttr.Setpgid = true }

// reachable names the data directory as it is.
func reachable(_ *exec.Cmd, directory string) (path string, release func(), err error) {
	return directory, func() {}, nil
}
