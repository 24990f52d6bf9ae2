package postgres

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account gives the user the server runs as where that is not the user of this process: PostgreSQL
// refuses to run as root. It is the owner of data where there is one, else postgres, else nobody.
func account(data string) *syscall.Credential {
	if os.Geteuid() != 0 {
		return nil
	}
	if info, err := os.Stat(data); err == nil {
		if owner, ok := info.Sys().(*syscall.Stat_t); ok && owner.Uid != 0 {
			return &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if found, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(found.Uid, 10, 32)
			gid, _ := strconv.ParseUint(found.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	return &syscall.Credential{Uid: 65534, Gid: 65534}
}

// private makes a directory that only the server's user (and root) may enter. One that is there already
// must be that user's, or this process's, and no link: /tmp belongs to everyone.
func private(directory string, as *syscall.Credential) error {
	if err := os.Mkdir(directory, 0o700); err != nil && !os.IsExist(err) {
		return err
	}
	info, err := os.Lstat(directory)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	mine := ok && (int(owner.Uid) == os.Geteuid() || as != nil && owner.Uid == as.Uid)
	if !info.IsDir() || !mine {
		return fmt.Errorf("%s is in the way: it belongs to someone else", directory)
	}
	if as != nil {
		if err := os.Chown(directory, int(as.Uid), int(as.Gid)); err != nil {
			return err
		}
	}
	return os.Chmod(directory, 0o700)
}
