package postgres

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// InUseError says that another process runs the cluster of a data directory.
type InUseError struct{ Directory, Holder string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("%s is in use by another countersign (process %s): stop that one, or give this one a directory of its own with --data", e.Directory, e.Holder)
}

// hold takes a directory for this process until the file is closed or the process ends, however it ends.
func hold(directory string) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(directory, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := io.ReadAll(io.LimitReader(file, 20))
		_ = file.Close()
		return nil, &InUseError{Directory: directory, Holder: strings.TrimSpace(string(holder))}
	}
	if err == nil {
		err = file.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("take %s: %w", directory, err)
	}
	return file, nil
}

// InUse tells whether a process runs the cluster of a data directory.
func InUse(directory string) bool {
	file, err := os.OpenFile(filepath.Join(directory, "lock"), os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}
