;; Predefined operations on predefined elements, in the node's memory: left = left ∘ right, element by element, bit for bit as
;; core/comm/op/kernels-number.ts and kernels-bytes.ts combine them. The same with the result elsewhere, in whatever memory: `foldInto`.
;;
;; Formats of elements: 0 to 7 are int8, uint8, int16, uint16, int32, uint32, int64, uint64; 8 is float32, 9 float64. Operations are
;; counted from 0x20 of the ABI: sum 1, min 2, max 3, prod 4, band 8, bor 9, bxor 10, land 16, lor 17, lxor 18.
(module
  (import "node" "memory" (memory 1 65536 shared))

  ;; How far the result lies behind the left operand.
  (global $shift (mut i32) (i32.const 0))

  ;; into = left ∘ right, whole sixteens of bytes; `into` may be `left` or `right`, and overlaps them in no other way.
  (func (export "foldInto")
    (param $left i32) (param $right i32) (param $into i32) (param $bytes i32) (param $format i32) (param $operation i32)
    (global.set $shift (i32.sub (local.get $into) (local.get $left)))
    (call $fold (local.get $left) (local.get $right) (local.get $bytes) (local.get $format) (local.get $operation))
    (global.set $shift (i32.const 0)))

  (func $fold (export "fold") (param $left i32) (param $right i32) (param $bytes i32) (param $format i32) (param $operation i32)
    (local $whole i32) (local $end i32) (local $isFloat i32) (local $isDouble i32)
    (if (i32.eqz (local.get $bytes)) (then (return)))
    (local.set $end (i32.add (local.get $left) (local.get $bytes)))
    ;; Bits have no elements. Where the length is no multiple of 16, what lies behind the operands is combined too: a part of a board has
    ;; room for it, and nobody reads it.
    (if (i32.and (i32.ge_u (local.get $operation) (i32.const 8)) (i32.le_u (local.get $operation) (i32.const 10)))
      (then
        (call $bits (local.get $left) (local.get $right) (local.get $end) (local.get $operation))
        (return)))
    (local.set $isFloat (i32.ge_u (local.get $format) (i32.const 8)))
    (local.set $isDouble (i32.eq (local.get $format) (i32.const 9)))
    ;; Sums of floating-point numbers are what most programs want: 64 bytes at a time.
    (local.set $whole (i32.and (local.get $bytes) (i32.const -64)))
    (if (i32.and
          (i32.ne (local.get $whole) (i32.const 0))
          (i32.and (local.get $isFloat) (i32.eq (local.get $operation) (i32.const 1))))
      (then
        (if (local.get $isDouble)
          (then (call $sumFloat64 (local.get $left) (local.get $right) (i32.add (local.get $left) (local.get $whole))))
          (else (call $sumFloat32 (local.get $left) (local.get $right) (i32.add (local.get $left) (local.get $whole)))))
        (local.set $left (i32.add (local.get $left) (local.get $whole)))
        (local.set $right (i32.add (local.get $right) (local.get $whole)))
        (local.set $bytes (i32.sub (local.get $bytes) (local.get $whole)))
        (if (i32.eqz (local.get $bytes)) (then (return)))))
    ;; Whole sixteens next: each element of a vector is what it would be alone. The rest element by element.
    (local.set $whole (i32.and (local.get $bytes) (i32.const -16)))
    (if (i32.and
          (i32.ne (local.get $whole) (i32.const 0))
          (i32.or (local.get $isFloat) (i32.eq (local.get $operation) (i32.const 1))))
      (then
        (if (local.get $isFloat)
          (then
            (call $floatVectors (local.get $left) (local.get $right) (i32.add (local.get $left) (local.get $whole))
              (local.get $isDouble) (local.get $operation)))
          (else
            (call $integerSums (local.get $left) (local.get $right) (i32.add (local.get $left) (local.get $whole))
              (i32.shr_u (local.get $format) (i32.const 1)))))
        (local.set $left (i32.add (local.get $left) (local.get $whole)))
        (local.set $right (i32.add (local.get $right) (local.get $whole)))
        (if (i32.eq (local.get $left) (local.get $end)) (then (return)))))
    (if (local.get $isFloat)
      (then
        (call $floats (local.get $left) (local.get $right) (local.get $end) (local.get $isDouble) (local.get $operation))
        (return)))
    (call $integers (local.get $left) (local.get $right) (local.get $end) (local.get $format) (local.get $operation)))

  ;; A sum of two float64 has the same bits in a vector and alone.
  (func $sumFloat64 (param $left i32) (param $right i32) (param $end i32)
    (local $into i32)
    (loop $next
      (local.set $into (i32.add (local.get $left) (global.get $shift)))
      (v128.store (local.get $into) (f64x2.add (v128.load (local.get $left)) (v128.load (local.get $right))))
      (v128.store offset=16 (local.get $into) (f64x2.add (v128.load offset=16 (local.get $left)) (v128.load offset=16 (local.get $right))))
      (v128.store offset=32 (local.get $into) (f64x2.add (v128.load offset=32 (local.get $left)) (v128.load offset=32 (local.get $right))))
      (v128.store offset=48 (local.get $into) (f64x2.add (v128.load offset=48 (local.get $left)) (v128.load offset=48 (local.get $right))))
      (local.set $right (i32.add (local.get $right) (i32.const 64)))
      (br_if $next
        (i32.lt_u (local.tee $left (i32.add (local.get $left) (i32.const 64))) (local.get $end)))))

  ;; As `floatVectors` has it where something is not a number.
  (func $sumFloat32 (param $left i32) (param $right i32) (param $end i32)
    (local $into i32) (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (loop $next
      (local.set $into (i32.add (local.get $left) (global.get $shift)))
      (local.set $a (f32x4.add (v128.load (local.get $left)) (v128.load (local.get $right))))
      (local.set $b (f32x4.add (v128.load offset=16 (local.get $left)) (v128.load offset=16 (local.get $right))))
      (local.set $c (f32x4.add (v128.load offset=32 (local.get $left)) (v128.load offset=32 (local.get $right))))
      (local.set $d (f32x4.add (v128.load offset=48 (local.get $left)) (v128.load offset=48 (local.get $right))))
      (if (v128.any_true
            (v128.or
              (v128.or (f32x4.ne (local.get $a) (local.get $a)) (f32x4.ne (local.get $b) (local.get $b)))
              (v128.or (f32x4.ne (local.get $c) (local.get $c)) (f32x4.ne (local.get $d) (local.get $d)))))
        (then
          (call $floats (local.get $left) (local.get $right) (i32.add (local.get $left) (i32.const 64)) (i32.const 0)
            (i32.const 1)))
        (else
          (v128.store (local.get $into) (local.get $a))
          (v128.store offset=16 (local.get $into) (local.get $b))
          (v128.store offset=32 (local.get $into) (local.get $c))
          (v128.store offset=48 (local.get $into) (local.get $d))))
      (local.set $right (i32.add (local.get $right) (i32.const 64)))
      (br_if $next
        (i32.lt_u (local.tee $left (i32.add (local.get $left) (i32.const 64))) (local.get $end)))))

  ;; Operations 8 to 10.
  (func $bits (param $left i32) (param $right i32) (param $end i32) (param $operation i32)
    (local $a v128) (local $b v128)
    (loop $next
      (local.set $a (v128.load (local.get $left)))
      (local.set $b (v128.load (local.get $right)))
      (block $done
        (block $xor
          (block $or
            (block $and
              (br_table $and $or $xor (i32.sub (local.get $operation) (i32.const 8))))
            (local.set $a (v128.and (local.get $a) (local.get $b)))
            (br $done))
          (local.set $a (v128.or (local.get $a) (local.get $b)))
          (br $done))
        (local.set $a (v128.xor (local.get $a) (local.get $b))))
      (v128.store (i32.add (local.get $left) (global.get $shift)) (local.get $a))
      (local.set $right (i32.add (local.get $right) (i32.const 16)))
      (br_if $next
        (i32.lt_u (local.tee $left (i32.add (local.get $left) (i32.const 16))) (local.get $end)))))

  ;; `width` is the logarithm of an element's bytes.
  (func $integerSums (param $left i32) (param $right i32) (param $end i32) (param $width i32)
    (local $a v128) (local $b v128)
    (loop $next
      (local.set $a (v128.load (local.get $left)))
      (local.set $b (v128.load (local.get $right)))
      (block $done
        (block $eight
          (block $four
            (block $two
              (block $one
                (br_table $one $two $four $eight (local.get $width)))
              (local.set $a (i8x16.add (local.get $a) (local.get $b)))
              (br $done))
            (local.set $a (i16x8.add (local.get $a) (local.get $b)))
            (br $done))
          (local.set $a (i32x4.add (local.get $a) (local.get $b)))
          (br $done))
        (local.set $a (i64x2.add (local.get $a) (local.get $b))))
      (v128.store (i32.add (local.get $left) (global.get $shift)) (local.get $a))
      (local.set $right (i32.add (local.get $right) (i32.const 16)))
      (br_if $next
        (i32.lt_u (local.tee $left (i32.add (local.get $left) (i32.const 16))) (local.get $end)))))

  ;; Operations 1 to 4. What is not a number is to have the bits that the engine gives it, which computes in float64 and one by one: a
  ;; float32 that was signalling is quiet there before it meets the other. So these go element by element.
  (func $floatVectors (param $left i32) (param $right i32) (param $end i32) (param $isDouble i32) (param $operation i32)
    (local $a v128) (local $b v128)
    (loop $next
      (local.set $a (v128.load (local.get $left)))
      (local.set $b (v128.load (local.get $right)))
      (block $done
        (block $prod64
          (block $max64
            (block $min64
              (block $sum64
                (block $prod32
                  (block $max32
                    (block $min32
                      (block $sum32
                        (br_table $sum32 $min32 $max32 $prod32 $sum64 $min64 $max64 $prod64
                          (i32.add (i32.sub (local.get $operation) (i32.const 1))
                            (i32.shl (local.get $isDouble) (i32.const 2)))))
                      (local.set $a (f32x4.add (local.get $a) (local.get $b)))
                      (br $done))
                    (local.set $a (f32x4.min (local.get $a) (local.get $b)))
                    (br $done))
                  (local.set $a (f32x4.max (local.get $a) (local.get $b)))
                  (br $done))
                (local.set $a (f32x4.mul (local.get $a) (local.get $b)))
                (br $done))
              (local.set $a (f64x2.add (local.get $a) (local.get $b)))
              (br $done))
            (local.set $a (f64x2.min (local.get $a) (local.get $b)))
            (br $done))
          (local.set $a (f64x2.max (local.get $a) (local.get $b)))
          (br $done))
        (local.set $a (f64x2.mul (local.get $a) (local.get $b))))
      (if (v128.any_true
            (if (result v128) (local.get $isDouble)
              (then (f64x2.ne (local.get $a) (local.get $a)))
              (else (f32x4.ne (local.get $a) (local.get $a)))))
        (then
          (call $floats (local.get $left) (local.get $right) (i32.add (local.get $left) (i32.const 16))
            (local.get $isDouble) (local.get $operation)))
        (else (v128.store (i32.add (local.get $left) (global.get $shift)) (local.get $a))))
      (local.set $right (i32.add (local.get $right) (i32.const 16)))
      (br_if $next
        (i32.lt_u (local.tee $left (i32.add (local.get $left) (i32.const 16))) (local.get $end)))))

  ;; A sum or product of two float32 that is computed in float64 and rounded is the float32 one.
  (func $floats (param $left i32) (param $right i32) (param $end i32) (param $isDouble i32) (param $operation i32)
    (local $a f64) (local $b f64)
    (loop $next
      (if (local.get $isDouble)
        (then
          (local.set $a (f64.load (local.get $left)))
          (local.set $b (f64.load (local.get $right))))
        (else
          (local.set $a (f64.promote_f32 (f32.load (local.get $left))))
          (local.set $b (f64.promote_f32 (f32.load (local.get $right))))))
      (block $done
        (block $prod
          (block $max
            (block $min
              (block $sum
                (br_table $sum $sum $min $max $prod (local.get $operation)))
              (local.set $a (f64.add (local.get $a) (local.get $b)))
              (br $done))
            (local.set $a (f64.min (local.get $a) (local.get $b)))
            (br $done))
          (local.set $a (f64.max (local.get $a) (local.get $b)))
          (br $done))
        (local.set $a (f64.mul (local.get $a) (local.get $b))))
      (if (local.get $isDouble)
        (then
          (f64.store (i32.add (local.get $left) (global.get $shift)) (local.get $a))
          (local.set $left (i32.add (local.get $left) (i32.const 8)))
          (local.set $right (i32.add (local.get $right) (i32.const 8))))
        (else
          (f32.store (i32.add (local.get $left) (global.get $shift)) (f32.demote_f64 (local.get $a)))
          (local.set $left (i32.add (local.get $left) (i32.const 4)))
          (local.set $right (i32.add (local.get $right) (i32.const 4)))))
      (br_if $next (i32.lt_u (local.get $left) (local.get $end)))))

  ;; An integer with its sign, if its format has one.
  (func $integer (param $at i32) (param $format i32) (result i64)
    (block $int64
      (block $uint32
        (block $int32
          (block $uint16
            (block $int16
              (block $uint8
                (block $int8
                  (br_table $int8 $uint8 $int16 $uint16 $int32 $uint32 $int64 (local.get $format)))
                (return (i64.load8_s (local.get $at))))
              (return (i64.load8_u (local.get $at))))
            (return (i64.load16_s (local.get $at))))
          (return (i64.load16_u (local.get $at))))
        (return (i64.load32_s (local.get $at))))
      (return (i64.load32_u (local.get $at))))
    (i64.load (local.get $at)))

  (func $integers (param $left i32) (param $right i32) (param $end i32) (param $format i32) (param $operation i32)
    (local $a i64) (local $b i64) (local $bytes i32)
    (local.set $bytes (i32.shl (i32.const 1) (i32.shr_u (local.get $format) (i32.const 1))))
    (loop $next
      (local.set $a (call $integer (local.get $left) (local.get $format)))
      (local.set $b (call $integer (local.get $right) (local.get $format)))
      (local.set $a
        (call $combined (local.get $a) (local.get $b) (i32.eq (local.get $format) (i32.const 7)) (local.get $operation)))
      (block $done
        (block $eight
          (block $four
            (block $two
              (block $one
                (br_table $one $two $four $eight (i32.shr_u (local.get $format) (i32.const 1))))
              (i64.store8 (i32.add (local.get $left) (global.get $shift)) (local.get $a))
              (br $done))
            (i64.store16 (i32.add (local.get $left) (global.get $shift)) (local.get $a))
            (br $done))
          (i64.store32 (i32.add (local.get $left) (global.get $shift)) (local.get $a))
          (br $done))
        (i64.store (i32.add (local.get $left) (global.get $shift)) (local.get $a)))
      (local.set $right (i32.add (local.get $right) (local.get $bytes)))
      (br_if $next
        (i32.lt_u (local.tee $left (i32.add (local.get $left) (local.get $bytes))) (local.get $end)))))

  ;; Of integers of up to 64 bits; shorter ones are extended as their sign wants it, so one comparison is right for all but uint64.
  (func $combined (param $a i64) (param $b i64) (param $isUint64 i32) (param $operation i32) (result i64)
    (local $isLess i32)
    (block $lxor
      (block $lor
        (block $land
          (block $bxor
            (block $bor
              (block $band
                (block $prod
                  (block $order
                    (block $sum
                      (br_table $sum $sum $order $order $prod $sum $sum $sum $band $bor $bxor $sum $sum $sum $sum $sum
                        $land $lor $lxor (local.get $operation)))
                    (return (i64.add (local.get $a) (local.get $b))))
                  (local.set $isLess
                    (select
                      (i64.lt_u (local.get $a) (local.get $b))
                      (i64.lt_s (local.get $a) (local.get $b))
                      (local.get $isUint64)))
                  (return
                    (select (local.get $a) (local.get $b)
                      (i32.eq (local.get $isLess) (i32.eq (local.get $operation) (i32.const 2))))))
                (return (i64.mul (local.get $a) (local.get $b))))
              (return (i64.and (local.get $a) (local.get $b))))
            (return (i64.or (local.get $a) (local.get $b))))
          (return (i64.xor (local.get $a) (local.get $b))))
        (return
          (i64.extend_i32_u
            (i32.and (i64.ne (local.get $a) (i64.const 0)) (i64.ne (local.get $b) (i64.const 0))))))
      (return
        (i64.extend_i32_u (i64.ne (i64.or (local.get $a) (local.get $b)) (i64.const 0)))))
    (i64.extend_i32_u
      (i32.ne (i64.eqz (local.get $a)) (i64.eqz (local.get $b))))))
