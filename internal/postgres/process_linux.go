package postgres

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate makes the server leave when this process is killed, and keeps a ^C at the terminal from
// reaching it before this process has let go of it.
func isolate(command *exec.Cmd) {
	command.SysProcAttr.Setpgid = true
	command.SysProcAttr.Pdeathsig = syscall.SIGINT
}

// reachable hands the data directory over as an open file: another user than root may not pass through
// directories that only root may enter, such as /root or one made by mktemp.
func reachable(command *exec.Cmd, directory string) (path string, release func(), err error) {
	if command.SysProcAttr.Credential == nil {
		return directory, func() {}, nil
	}
	opened, err := os.Open(directory)
	if err != nil {
		return "", nil, err
	}
	command.ExtraFiles = []*os.File{opened}
	return "/proc/self/fd/3", func() { _ = opened.Close() }, nil
}
