;; --- kinds of characters
(list (alpha-char-p #\a) (alpha-char-p #\1) (digit-char-p #\7) (digit-char-p #\a) (digit-char-p #\a 16) (digit-char-p #\8 8) (alphanumericp #\1) (alphanumericp #\-) (upper-case-p #\A) (lower-case-p #\A) (both-case-p #\a) (both-case-p #\1) (graphic-char-p #\Space) (graphic-char-p #\Newline) (standard-char-p #\a))
;; --- case of characters
(list (char-upcase #\a) (char-downcase #\A) (char-upcase #\1) (char-code (char-upcase #\ä)))
;; --- codes
(list (char-code #\A) (code-char 97) (char-int #\0) (char-code #\Newline) (char-code #\Tab))
;; --- code-char of a negative
(code-char -1)
;; --- char-code of a string
(char-code "a")
;; --- digit-char
(list (digit-char 7) (digit-char 10) (digit-char 11 16) (digit-char 36 36) (digit-char 35 36))
;; --- names
(list (char-name #\Space) (char-name #\Newline) (char-name #\Tab) (name-char "Newline") (name-char "TAB") (name-char "nosuch"))
;; --- comparison
(list (char= #\a #\a) (char= #\a #\b) (char< #\a #\b #\c) (char< #\a #\c #\b) (char> #\b #\a) (char<= #\a #\a #\b) (char/= #\a #\b #\a) (char/= #\a #\b #\c) (char= #\a))
;; --- comparison without case
(list (char-equal #\a #\A) (char-lessp #\a #\B) (char-greaterp #\b #\A) (char-not-equal #\a #\A) (char-not-lessp #\b #\a) (char-not-greaterp #\a #\A))
;; --- comparison of a string
(char= "a" #\a)
;; --- character designators
(list (character #\a) (character "b") (character 'c))
;; --- character of a long string
(character "ab")
;; --- printing characters
(list #\a #\A #\1 #\( #\Newline #\Tab #\" #\\)
;; --- eq of characters
(list (eq #\a #\a) (eql #\a #\a) (equal #\a #\A) (equalp #\a #\A) (characterp #\a) (characterp "a"))
;; --- wrong radix
(digit-char-p #\a 99)
