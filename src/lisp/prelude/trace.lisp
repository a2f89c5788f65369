;;; trace and untrace. The global function is wrapped, so calls through its name are traced, also those in a
;;; compiled function.

(defmacro trace (&rest names)
  `(%trace ',names))

(defmacro untrace (&rest names)
  `(%untrace ',names))

(defun %trace (names)
  (mapc #'%trace-one names)
  (or names (mapcar #'first (get '%trace '%traced))))

;; Each entry is (name original wrapper).
(defun %trace-one (name)
  (let ((original (%traceable name))
        (entry (assoc name (get '%trace '%traced) :test #'equal)))
    (unless (and entry (eq original (third entry)))
      (let ((wrapper (%tracing name original)))
        (setf (fdefinition name) wrapper
              (get '%trace '%traced) (append (remove entry (get '%trace '%traced))
                                             (list (list name original wrapper))))))))

(defun %tracing (name original)
  (let ((level 0))
    (%as-generic original
      (lambda (&rest arguments)
        (let ((indent (* 2 level)) (values nil))
          (format *trace-output* "~va~d: ~s~%" indent "" level (cons name arguments))
          (incf level)
          (unwind-protect (setq values (multiple-value-list (apply original arguments)))
            (decf level))
          (format *trace-output* "~va~d: ~a returned ~{~s~^, ~}~%" indent "" level
                  (if (symbolp name) (symbol-name name) (prin1-to-string name))
                  values)
          (values-list values))))))

(defun %untrace (names)
  (let ((wanted (or names (mapcar #'first (get '%trace '%traced)))))
    (dolist (name wanted wanted)
      (let ((entry (assoc name (get '%trace '%traced) :test #'equal)))
        (when entry
          (when (eq (fdefinition name) (third entry))
            (setf (fdefinition name) (second entry)))
          (setf (get '%trace '%traced) (remove entry (get '%trace '%traced))))))))
