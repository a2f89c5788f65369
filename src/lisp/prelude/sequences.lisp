;;; Functions on sequences that few programs use.

(defun merge (result-type sequence-1 sequence-2 predicate &key key)
  (let ((left (coerce sequence-1 'list))
        (right (coerce sequence-2 'list))
        (part (or key #'identity))
        (merged nil))
    (loop while (or left right)
          do (if (or (null left)
                     (and right
                          (funcall predicate
                                   (funcall part (first right)) (funcall part (first left)))))
                 (push (pop right) merged)
                 (push (pop left) merged)))
    (concatenate result-type (nreverse merged))))

(defun mismatch (sequence-1 sequence-2
                 &key from-end test test-not key (start1 0) end1 (start2 0) end2)
  (let ((left (subseq sequence-1 start1 end1))
        (right (subseq sequence-2 start2 end2))
        (part (or key #'identity))
        (same 0))
    (block nil
      (map nil
           (lambda (a b)
             (if (funcall (%matcher (funcall part a) test test-not) (funcall part b))
                 (incf same)
                 (return)))
           (if from-end (reverse left) left)
           (if from-end (reverse right) right)))
    (cond ((= same (length left) (length right)) nil)
          (from-end (+ start1 (- (length left) same)))
          (t (+ start1 same)))))
