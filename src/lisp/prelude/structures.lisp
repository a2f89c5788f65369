;;; defstruct. A structure is described by a property list, kept for structures that include it; a slot by the list
;;; (name initform type read-only). Class, accessors, predicate and copier are natives; constructors are ordinary
;;; functions, so that initforms see the lexical environment. Structures that are lists or vectors use ordinary
;;; functions only.

(defmacro defstruct (&optional name-and-options &rest slots)
  (let* ((structure (%structure name-and-options slots))
         (name (getf structure :name)))
    (setf (get '%structure name) structure)
    `(progn
       ,@(if (getf structure :type)
             (%sequence-structure structure)
             (%class-structure structure))
       ',name)))

(defun %refuse-structure (control argument)
  (error 'program-error :text (format nil "DEFSTRUCT ~?" control (list argument))))

(defun %structure (name-and-options parts)
  (destructuring-bind (name &rest options)
      (if (consp name-and-options) name-and-options (list name-and-options))
    (unless (and name (symbolp name))
      (%refuse-structure "requires a name, not ~s" name-and-options))
    (let ((given (mapcar (lambda (option) (if (consp option) option (list option))) options)))
      (%check-structure-options given)
      (labels ((option (key) (assoc key given :test #'string=))
               (chosen (key prefix suffix)
                 (if (rest (option key))
                     (second (option key))
                     (%symbol prefix name suffix))))
        (let* ((named (or (not (option :type)) (option :named)))
               (included (%included-structure name (rest (option :include)))))
          (when (and (not named) (second (option :predicate)))
            (error "~s has no name in its objects, so it cannot have a predicate" name))
          (list :name name
                :conc-name (if (option :conc-name)
                               (and (second (option :conc-name))
                                    (string (second (option :conc-name))))
                               (concatenate 'string (symbol-name name) "-"))
                :constructors (%structure-constructors name given)
                :copier (chosen :copier "COPY-" "")
                :predicate (and named (chosen :predicate "" "-P"))
                :include (second (option :include))
                :slots (append (%included-slots included (cddr (option :include)))
                               (mapcar #'%structure-slot
                                       (if (stringp (first parts)) (rest parts) parts)))
                :type (and (option :type) (%structure-type (second (option :type))))
                :named named
                :offset (or (second (option :initial-offset)) 0)
                :printer (let ((print-function (second (option :print-function)))
                               (print-object (second (option :print-object))))
                           (cond (print-function `(#',print-function 0))
                                 (print-object `(#',print-object))))
                :documentation (and (stringp (first parts)) (first parts))))))))

(defun %check-structure-options (given)
  (loop for (option) in given
        unless (and (symbolp option)
                    (member option '(:conc-name :constructor :copier :predicate :include :type :named
                                     :initial-offset :print-function :print-object)
                            :test #'string=))
          do (%refuse-structure "does not support the option ~s" option)))

;; A symbol of the current package.
(defun %symbol (prefix name suffix)
  (values (intern (concatenate 'string prefix (symbol-name name) suffix))))

(defun %structure-type (type)
  (let ((name (if (consp type) (first type) type)))
    (unless (symbolp name) (%refuse-structure "does not support the type ~s" type))
    (if (eq name 'list) 'list 'vector)))

;; Each is a name, with a lambda list unless it takes keywords.
(defun %structure-constructors (name given)
  (let* ((options (remove :constructor given :key #'first :test-not #'string=))
         (default (%symbol "MAKE-" name "")))
    (if options
        (loop for (nil . arguments) in options
              unless (and arguments (null (first arguments)))
                collect (or arguments (list default)))
        (list (list default)))))

(defun %included-structure (name option)
  (when option
    (or (get '%structure (first option))
        (error "~s is not a structure that ~s could include" (first option) name))))

(defun %included-slots (included overrides)
  (let ((replaced (mapcar #'%structure-slot overrides)))
    (loop for slot in (getf included :slots)
          for new = (find (first slot) replaced :key #'first :test #'string=)
          collect (if new (cons (first slot) (rest new)) slot))))

(defun %structure-slot (slot)
  (destructuring-bind (name &optional initform &rest options) (if (consp slot) slot (list slot))
    (unless (symbolp name) (%refuse-structure "requires a slot, not ~s" slot))
    (list name initform (getf options :type t) (getf options :read-only))))

(defun %structure-accessor (structure slot)
  (let ((conc-name (getf structure :conc-name)))
    (if conc-name (%symbol conc-name (first slot) "") (first slot))))

(defun %class-structure (structure)
  (destructuring-bind (&key name include slots predicate copier printer documentation
                       &allow-other-keys)
      structure
    (let ((described (loop for slot in slots
                           collect (list (first slot) (third slot) (fourth slot)
                                         (%structure-accessor structure slot)))))
      `((%define-structure ',name ',(or include 'structure-object) ',described
                           ',predicate ',copier ',documentation)
        ,@(%constructor-forms structure (lambda (values) `(%make-structure ',name ,@values)))
        ,@(and printer
               `((defmethod print-object ((%object ,name) %stream)
                   (funcall ,(first printer) %object %stream ,@(rest printer)))))))))

;; MAKE turns the forms for the slots into the form that makes the object.
(defun %constructor-forms (structure make)
  (loop for (name . lambda-list) in (getf structure :constructors)
        collect (if lambda-list
                    (%constructor-by-order name (first lambda-list) (getf structure :slots) make)
                    (%constructor-by-keywords name (getf structure :slots) make))))

;; The variables are hidden, because an initform must not see earlier slots.
(defun %constructor-by-keywords (name slots make)
  (let ((variables (loop for slot in slots collect (make-symbol (symbol-name (first slot))))))
    `(defun ,name (&key ,@(loop for (slot initform) in slots
                                for variable in variables
                                collect `((,(intern (symbol-name slot) :keyword) ,variable) ,initform)))
       ,(funcall make variables))))

;; Slots and variables fit by name, because an included structure may be from another package.
(defun %constructor-by-order (name lambda-list slots make)
  (let* ((section nil)
         (variables nil)
         (parameters
           (loop for parameter in lambda-list
                 for head = (if (consp parameter) (first parameter) parameter)
                 for variable = (if (consp head) (second head) head)
                 for slot = (find variable slots :key #'first :test #'string=)
                 if (member parameter lambda-list-keywords)
                   collect (setq section parameter)
                 else
                   do (push variable variables)
                   and collect (if (and slot (atom parameter) (member section '(&optional &key)))
                                   (list parameter (second slot))
                                   parameter))))
    `(defun ,name ,parameters
       ,(funcall make (loop for (slot initform) in slots
                            for variable = (find slot variables :test #'string=)
                            collect (if variable variable initform))))))

;; The elements of a list or vector: NIL, the name of the structure, or the index of a slot.
(defun %structure-layout (structure)
  (destructuring-bind (&key name include named offset slots &allow-other-keys) structure
    (let ((above (and include (get '%structure include))))
      (append (and above (%structure-layout above))
              (make-list offset)
              (and named (list name))
              (loop for index from (length (getf above :slots)) below (length slots)
                    collect index)))))

(defun %sequence-structure (structure)
  (destructuring-bind (&key name type slots predicate copier &allow-other-keys) structure
    (let* ((layout (%structure-layout structure))
           (named-at (position name layout)))
      (flet ((access (index)
               (if (eq type 'list) `(nth ,index %object) `(aref %object ,index)))
             (make (values)
               `(,type ,@(loop for element in layout
                               collect (if (integerp element) (nth element values) `',element)))))
        `(,@(%constructor-forms structure #'make)
          ,@(loop for element in layout
                  for index from 0
                  when (integerp element)
                    nconc (%sequence-accessors (%structure-accessor structure (nth element slots))
                                               (access index)
                                               (fourth (nth element slots))))
          ,@(and predicate named-at
                 `((defun ,predicate (%object)
                     (and ,(if (eq type 'list)
                               '(consp %object)
                               `(and (vectorp %object) (> (length %object) ,named-at)))
                          (eq ,(access named-at) ',name)
                          t))))
          ,@(and copier
                 `((defun ,copier (%object) (copy-seq %object)))))))))

(defun %sequence-accessors (name access read-only)
  `((defun ,name (%object) ,access)
    ,@(unless read-only
        `((defun (setf ,name) (%value %object) (setf ,access %value))))))
