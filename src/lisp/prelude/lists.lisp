;;; Trees, and functions on lists that few programs use.

(defun subst (new old tree &key key test test-not)
  (subst-if new (%matcher old test test-not) tree :key key))

(defun subst-if (new predicate tree &key key)
  (let ((found (cons nil new)))
    (%replaced tree (lambda (part)
                      (and (funcall predicate (if key (funcall key part) part)) found)))))

(defun subst-if-not (new predicate tree &key key)
  (subst-if new (complement predicate) tree :key key))

(defun nsubst (new old tree &key key test test-not)
  (subst new old tree :key key :test test :test-not test-not))

(defun nsubst-if (new predicate tree &key key)
  (subst-if new predicate tree :key key))

(defun nsubst-if-not (new predicate tree &key key)
  (subst-if-not new predicate tree :key key))

(defun sublis (alist tree &key key test test-not)
  (%replaced tree (lambda (part)
                    (assoc (if key (funcall key part) part) alist :test test :test-not test-not))))

(defun nsublis (alist tree &key key test test-not)
  (sublis alist tree :key key :test test :test-not test-not))

;; Replaces each part for which FIND answers a cons by the cdr of that cons; shares what does not change.
(defun %replaced (tree find)
  (let ((cells nil) (at tree) (rest nil))
    (loop
      (let ((found (funcall find at)))
        (when (or found (atom at))
          (setq rest (if found (cdr found) at))
          (return)))
      (push (cons at (%replaced (car at) find)) cells)
      (setq at (cdr at)))
    (loop for (cell . first) in cells
          do (setq rest (if (and (eq first (car cell)) (eq rest (cdr cell)))
                            cell
                            (cons first rest))))
    rest))

(defun %matcher (item test test-not)
  (cond ((and test test-not) (error "both :test and :test-not are given"))
        (test-not (lambda (part) (not (funcall test-not item part))))
        (test (lambda (part) (funcall test item part)))
        (t (lambda (part) (eql item part)))))

(defun tree-equal (tree-1 tree-2 &key test test-not)
  (loop while (and (consp tree-1) (consp tree-2))
        always (tree-equal (pop tree-1) (pop tree-2) :test test :test-not test-not)
        finally (return (and (atom tree-1)
                             (atom tree-2)
                             (funcall (%matcher tree-1 test test-not) tree-2)
                             t))))

(defun pairlis (keys data &optional alist)
  (check-type keys list)
  (check-type data list)
  (unless (= (length keys) (length data))
    (error "pairlis: the lists of keys and data are of unequal length"))
  (loop for key in keys
        for datum in data
        do (push (cons key datum) alist))
  alist)

(defun get-properties (plist indicators)
  (loop for tail = plist then (cddr tail)
        until (endp tail)
        do (check-type (cdr tail) cons)
        when (member (first tail) indicators :test #'eq)
          return (values (first tail) (second tail) tail)
        finally (return (values nil nil nil))))

(defun ldiff (list object)
  (check-type list list)
  (loop for at = list then (cdr at)
        while (and (consp at) (not (eql at object)))
        collect (car at) into items
        finally (return (if (eql at object) items (nconc items at)))))

(defun tailp (object list)
  (check-type list list)
  (loop for at = list then (cdr at)
        when (eql at object) return t
        while (consp at)))

(defun list-length (list)
  (loop for slow = list then (cdr slow)
        for fast = list then (cddr fast)
        for length from 0 by 2
        when (endp fast) return length
        when (endp (cdr fast)) return (1+ length)
        when (and (eq fast slow) (plusp length)) return nil))
