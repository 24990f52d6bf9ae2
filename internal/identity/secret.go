package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"hash/crc32"
	"math/big"
	"strings"

	"github.com/google/uuid"

	"github.com/countersign/countersign/internal/id"
)

// The two kinds of secret a client holds. Scanners of leaked secrets find them by these beginnings.
const (
	signInPrefix = "css_" // a person's sign-in
	tokenPrefix  = "csa_" // an API token
)

// A secret is its prefix, whose it is and 32 random bytes in base 62, and a checksum: text that was
// mistyped or cut is refused without asking the database, and a row that was made to name somebody
// else is noticed.
const (
	bodyLength     = 65 // 16 + 32 bytes in base 62
	checksumLength = 6  // 4 bytes
)

// newSecret gives a secret that nobody can guess, for one user.
func newSecret(prefix string, owner id.User) string {
	whose := owner.UUID()
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails: the program ends where there is no randomness
	text := prefix + base62(append(whose[:], random...), bodyLength)
	return text + checksum(text)
}

// ownerOf gives the uuid of whose secret this is; false for text that newSecret did not make.
func ownerOf(prefix, secret string) (uuid.UUID, bool) {
	if len(secret) != len(prefix)+bodyLength+checksumLength || !strings.HasPrefix(secret, prefix) {
		return uuid.Nil, false
	}
	text, sum := secret[:len(prefix)+bodyLength], secret[len(prefix)+bodyLength:]
	if checksum(text) != sum {
		return uuid.Nil, false
	}
	number, ok := new(big.Int).SetString(text[len(prefix):], 62)
	if !ok || number.BitLen() > 48*8 {
		return uuid.Nil, false
	}
	var bytes [48]byte
	number.FillBytes(bytes[:])
	return uuid.UUID(bytes[:16]), true
}

// secretHash is what is stored of a secret. It needs no salt and no slowness: a secret is random.
func secretHash(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func checksum(text string) string {
	sum := crc32.ChecksumIEEE([]byte(text))
	return base62([]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}, checksumLength)
}

// base62 writes bytes as a number of a fixed count of digits.
func base62(b []byte, digits int) string {
	text := new(big.Int).SetBytes(b).Text(62)
	return strings.Repeat("0", digits-len(text)) + text
}
