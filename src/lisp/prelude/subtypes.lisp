;;; subtypep. A is a subtype of B if nothing is in A and not in B. A type becomes a list of alternatives
;;; (kinds is is-not): the kinds of objects that it allows, as bits, and what these objects must and must not be.
;;; Such a trait is a list: its name, the type that it comes from, and data. Then each alternative is shown to be
;;; empty (T) or not (NIL). The answer to an undecidable question is :UNKNOWN.

(defun subtypep (type-1 type-2 &optional environment)
  (declare (ignore environment))
  (let* ((below (%expand-type type-1))
         (above (%expand-type type-2))
         (empty (or (%subclass-p below above)
                    (%empty (%both (%alternatives below) (%negated (%alternatives above)))))))
    (values (eq empty t) (not (eq empty :unknown)))))

;; The usual question is about two classes.
(defun %subclass-p (below above)
  (and (symbolp below)
       (symbolp above)
       (find-class below nil)
       (find-class above nil)
       (member (find-class above) (%precedence (find-class below)))
       t))

;; The kinds are disjoint and make up all objects.
(defun %kinds ()
  '(integer ratio double-float standard-char base-char extended-char
    %simple-t %other-t %simple-character %other-character %simple-bit %other-bit
    symbol keyword null cons complex hash-table function package stream
    standard-generic-function random-state restart readtable pathname method standard-method
    built-in-class standard-class structure-class standard-object structure-object condition))

(defun %class-kinds ()
  (member 'symbol (%kinds)))

;; Classes that a program can extend.
(defun %open-kinds ()
  (member 'standard-object (%kinds)))

(defun %bits (kinds)
  (loop with all = (%kinds) for kind in kinds sum (ash 1 (position kind all))))

(defun %all-bits ()
  (1- (ash 1 (length (%kinds)))))

(defun %plain (&rest kinds)
  (list (list (%bits kinds) nil nil)))

(defun %anything ()
  (list (list (%all-bits) nil nil)))

(defun %only (bits &rest trait)
  (list (list bits (list trait) nil)))

(defun %both (left right)
  (if (> (* (length left) (length right)) 2000)
      (%only (%all-bits) :open t)
      (loop for (bits-1 is-1 is-not-1) in left
            nconc (loop for (bits-2 is-2 is-not-2) in right
                        for common = (logand bits-1 bits-2)
                        unless (zerop common)
                          collect (list common (append is-1 is-2) (append is-not-1 is-not-2))))))

(defun %negated (alternatives)
  (let ((rest (%anything)))
    (loop for (bits is is-not) in alternatives
          do (setq rest
                   (%both rest
                          `((,(logandc2 (%all-bits) bits) nil nil)
                            ,@(loop for one in is collect (list bits nil (list one)))
                            ,@(loop for one in is-not collect (list bits (list one) nil))))))
    rest))

;; Types to alternatives.

(defun %alternatives (specifier)
  (let* ((type (%expand-type specifier))
         (name (if (consp type) (car type) type))
         (arguments (and (consp type) (cdr type))))
    (cond ((typep type 'built-in-class) (%alternatives (class-name type)))
          ((typep type 'class) (%class-alternatives type))
          ((null type) nil)
          ((member type '(t *)) (%anything))
          ((not (symbolp name)) (error "~s is not a type" type))
          ((%combined-alternatives name arguments type))
          ((member name '(or and not member eql)) nil)
          ((%number-alternatives name arguments type))
          ((%array-alternatives name arguments type))
          ((find-class name nil) (%class-alternatives (find-class name)))
          (t (%only (%all-bits) (if (%atomic-type-p name) :test :open) type)))))

(defun %combined-alternatives (name arguments type)
  (case name
    (or (mapcan #'%alternatives arguments))
    (and (reduce #'%both (mapcar #'%alternatives arguments) :initial-value (%anything)))
    (not (%negated (%alternatives (car arguments))))
    ((member eql) (mapcan #'%object-alternatives arguments))
    (boolean (mapcan #'%object-alternatives '(nil t)))
    (atom (%negated (%plain 'cons)))
    (satisfies (%only (%all-bits) :test type))
    (sequence (append (%plain 'cons 'null) (%alternatives 'vector)))
    (cons (destructuring-bind (&optional (car '*) (cdr '*)) arguments
            (if (and (eq car '*) (eq cdr '*))
                (%plain 'cons)
                (%only (%bits '(cons)) :cons type car cdr))))
    (character (%plain 'standard-char 'base-char 'extended-char))
    (base-char (%plain 'standard-char 'base-char))
    ((standard-char extended-char) (%plain name))
    (compiled-function (%plain 'function 'standard-generic-function))))

(defun %number-alternatives (name arguments type)
  (let* ((size (car arguments))
         (power (and (integerp size) (>= size 0) (expt 2 (min size 10000)))))
    (flet ((range (kinds low high)
             (if (and (eq low '*) (eq high '*))
                 (apply #'%plain kinds)
                 (%only (%bits kinds) :range type low high)))
           (bound (position)
             (if (nthcdr position arguments) (nth position arguments) '*)))
      (case name
        (bit (range '(integer) 0 1))
        (mod (range '(integer) 0 (list (or size 0))))
        (unsigned-byte (range '(integer) 0 (if power (1- power) '*)))
        (signed-byte (if power
                         (range '(integer) (- (/ power 2)) (1- (/ power 2)))
                         (%plain 'integer)))
        (fixnum (range '(integer) most-negative-fixnum most-positive-fixnum))
        (bignum (%both (%plain 'integer) (%negated (%alternatives 'fixnum))))
        (integer (range '(integer) (bound 0) (bound 1)))
        (rational (range '(integer ratio) (bound 0) (bound 1)))
        (real (range '(integer ratio double-float) (bound 0) (bound 1)))
        (number (%plain 'integer 'ratio 'double-float 'complex))
        ((float double-float single-float short-float long-float)
         (range '(double-float) (bound 0) (bound 1)))))))

(defun %array-alternatives (name arguments type)
  (let ((element (getf '(array * simple-array * vector * simple-vector t
                         string character simple-string character
                         base-string character simple-base-string character
                         bit-vector bit simple-bit-vector bit)
                       name)))
    (when element
      (let* ((chosen (if (and (eq element '*) arguments) (pop arguments) element))
             (size (if arguments (car arguments) '*))
             (dimensions (if (member name '(array simple-array)) size (list size)))
             (bits (%array-bits chosen (eql 0 (search "SIMPLE" (symbol-name name))))))
        (if (eq dimensions '*)
            (list (list bits nil nil))
            (%only bits :dimensions type
                   (if (integerp dimensions)
                       (make-list dimensions :initial-element '*)
                       dimensions)))))))

(defun %array-bits (element simple)
  (let* ((upgraded (if (eq element '*) '* (upgraded-array-element-type element)))
         (kinds (case upgraded
                  (* '(%simple-t %simple-character %simple-bit
                       %other-t %other-character %other-bit))
                  (character '(%simple-character %other-character))
                  (bit '(%simple-bit %other-bit))
                  (t '(%simple-t %other-t)))))
    (%bits (if simple (subseq kinds 0 (/ (length kinds) 2)) kinds))))

(defun %class-alternatives (class)
  (let ((within (remove-if-not (lambda (kind) (member class (%precedence (find-class kind))))
                               (%class-kinds))))
    (if within
        (apply #'%plain within)
        (let ((home (find-if (lambda (above) (member (class-name above) (%open-kinds)))
                             (%precedence class))))
          (%only (%bits (list (if home (class-name home) 'standard-object))) :class class class)))))

(defun %object-alternatives (object)
  (let ((name (class-name (class-of object))))
    (flet ((only (bits) (%only bits :object `(eql ,object) object)))
      (cond ((integerp object) (only (%bits '(integer))))
            ((characterp object)
             (only (%bits (list (find-if (lambda (kind) (typep object kind))
                                         '(standard-char base-char extended-char))))))
            ((arrayp object)
             (let ((all (%array-bits (array-element-type object) nil))
                   (simple (%array-bits (array-element-type object) t)))
               (only (if (typep object 'simple-array) simple (logandc2 all simple)))))
            ((or (numberp object) (member name (%class-kinds))) (only (%bits (list name))))
            (t (only (first (first (%class-alternatives (class-of object))))))))))

;; Is there anything?

(defun %empty (alternatives)
  (let ((answer t))
    (loop for (bits is is-not) in alternatives
          do (loop for kind in (%kinds)
                   for index from 0
                   when (logbitp index bits)
                     do (case (%kind-empty kind is is-not)
                          ((nil) (return-from %empty nil))
                          (:unknown (setq answer :unknown)))))
    answer))

(defun %kind-empty (kind is is-not)
  (let ((object (find :object is :key #'car))
        (all (append is is-not)))
    (cond ((find :open all :key #'car) :unknown)
          (object
           (flet ((holds (one) (typep (third object) (second one))))
             (not (and (every #'holds is) (notany #'holds is-not)))))
          (t (let ((answer (%part-empty kind is is-not)))
               (if (and (null answer) (find :test all :key #'car)) :unknown answer))))))

(defun %part-empty (kind is is-not)
  (cond ((member kind '(integer ratio double-float)) (%range-empty kind is is-not))
        ((eq kind 'cons) (%cons-empty is is-not))
        ((eq kind 'null) (and (member nil (%data :object is-not)) t))
        ((member kind (%open-kinds)) (%class-empty kind is is-not))
        (t (%dimensions-empty is is-not))))

;; The data of the traits of a name.
(defun %data (name traits)
  (loop for (trait nil data) in traits when (eq trait name) collect data))

(defun %dimensions-empty (is is-not)
  (let ((common (reduce #'%common-dimensions (%data :dimensions is) :initial-value :any)))
    (or (eq common :none)
        (and (listp common)
             (some (lambda (other)
                     (and (= (length common) (length other))
                          (every (lambda (size limit) (or (eq limit '*) (eql size limit)))
                                 common other)))
                   (%data :dimensions is-not))))))

(defun %common-dimensions (a b)
  (cond ((eq a :any) b)
        ((or (eq a :none) (/= (length a) (length b))) :none)
        ((notevery (lambda (x y) (or (eq x '*) (eq y '*) (eql x y))) a b) :none)
        (t (mapcar (lambda (x y) (if (eq x '*) y x)) a b))))

;; A product without products is empty if, however they are shared out, one side is empty.
(defun %cons-empty (is is-not)
  (let ((wanted (%pairs is))
        (refused (%pairs is-not))
        (answer t))
    (cond ((not (or wanted refused)) nil)
          ((> (length refused) 6) :unknown)
          (t (dotimes (shares (ash 1 (length refused)) answer)
               (let ((sides (list (%side-empty #'car wanted refused shares)
                                  (%side-empty #'cdr wanted refused (lognot shares)))))
                 (cond ((member t sides))
                       ((member :unknown sides) (setq answer :unknown))
                       (t (return nil)))))))))

(defun %pairs (traits)
  (loop for (trait nil car cdr) in traits
        when (eq trait :cons) collect (cons (%alternatives car) (%alternatives cdr))))

(defun %side-empty (side wanted refused shares)
  (let ((rest (reduce #'%both (mapcar side wanted) :initial-value (%anything))))
    (loop for one in refused
          for index from 0
          when (logbitp index shares)
            do (setq rest (%both rest (%negated (funcall side one)))))
    (%empty rest)))

(defun %class-empty (kind is is-not)
  (flet ((below (class above) (member above (%precedence class))))
    (let ((wanted (%data :class is)))
      (cond ((some (lambda (class)
                     (some (lambda (other) (below class other)) (%data :class is-not)))
                   wanted)
             t)
            ((every (lambda (a) (every (lambda (b) (or (below a b) (below b a))) wanted)) wanted)
             nil)
            ;; Objects of both may be defined later, except of structures, which include only one other.
            (t (if (eq kind 'structure-object) t :unknown))))))

;; Intervals of numbers: a pair of ends. An end is a pair of the number and whether it is excluded; none is infinite.

(defun %range-empty (kind is is-not)
  (let ((left (list (reduce #'%common-interval
                            (mapcar (lambda (trait) (%interval kind trait)) is)
                            :initial-value '(nil)))))
    ;; Zero and minus zero are the same in a range, but not the same object.
    (if (and (eq kind 'double-float)
             (some (lambda (object) (and (floatp object) (zerop object))) (%data :object is-not)))
        :unknown
        (dolist (trait is-not (notany (lambda (one) (%inhabited kind one)) left))
          (setq left (mapcan (lambda (one) (%without-interval kind one trait)) left))))))

(defun %interval (kind trait)
  (destructuring-bind (name type &optional data high) trait
    (declare (ignore type))
    (cond ((eq name :range) (cons (%end kind data 1) (%end kind high -1)))
          ((and (eq name :object) (numberp data)) (list* (list data) data nil))
          (t '(nil)))))

;; Ends of integers are whole and included; INWARD is 1 for the low end, -1 for the high one.
(defun %end (kind bound inward)
  (unless (eq bound '*)
    (let* ((open (consp bound))
           (value (if open (car bound) bound)))
      (cond ((not (eq kind 'integer)) (cons value open))
            ((= value (floor value)) (list (+ (floor value) (if open inward 0))))
            (t (list (if (= inward 1) (ceiling value) (floor value))))))))

(defun %common-interval (a b)
  (flet ((inner (x y further)
           (cond ((null x) y)
                 ((null y) x)
                 ((= (car x) (car y)) (if (cdr x) x y))
                 (t (if (funcall further (car x) (car y)) x y)))))
    (cons (inner (car a) (car b) #'>) (inner (cdr a) (cdr b) #'<))))

;; The parts left below and above.
(defun %without-interval (kind from trait)
  (destructuring-bind (low . high) (%interval kind trait)
    (flet ((beyond (end inward)
             (%end kind (if (cdr end) (car end) (list (car end))) inward)))
      (if (or (eq (car trait) :range) (and (eq (car trait) :object) (numberp (third trait))))
          (append (and low (list (%common-interval from (cons nil (beyond low -1)))))
                  (and high (list (%common-interval from (cons (beyond high 1) nil)))))
          (list from)))))

(defun %inhabited (kind interval)
  (destructuring-bind (low . high) interval
    (cond ((not (and low high)) t)
          ((/= (car low) (car high)) (< (car low) (car high)))
          ((or (cdr low) (cdr high)) nil)
          (t (case kind
               (ratio (typep (car low) 'ratio))
               (double-float (floatp (car low)))
               (t t))))))
