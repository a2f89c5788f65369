;;; Reading and iterating with what other parts define.

(defun read-delimited-list (character &optional (stream *standard-input*) recursive-p)
  (unless (characterp character)
    (error 'type-error :datum character :expected-type 'character))
  (loop until (eql (peek-char t stream t nil recursive-p) character)
        collect (read stream t nil t)
        finally (read-char stream)))
