;; The hash by which replicas compare messages, as `bytesHash` of message-hash.ts has it: 64 bytes a step in four vectors. A rotation by 16 bits exchanges
;; halves of words, which is one instruction; one by 13 bits, that of xxHash, is three (7.7 in place of 9.5 GB/s).
;;
;; The sign of a NaN is chance and has to be left out. That is a third of the work, and NaNs are rare: a stretch of bytes is hashed as if it had none,
;; and once more if it had what may be one.
(module
  (import "memory" "memory" (memory 1 65536 shared))

  (func $added (param $sum i32) (param $word i32) (result i32)
    (i32.mul
      (i32.rotl (i32.add (local.get $sum) (i32.mul (local.get $word) (i32.const 0x735a2d97))) (i32.const 16))
      (i32.const 0x9e3779b1)))

  (func $fourAdded (param $sums v128) (param $words v128) (result v128)
    (local.set $sums (i32x4.add (local.get $sums)
      (i32x4.mul (local.get $words) (v128.const i32x4 0x735a2d97 0x735a2d97 0x735a2d97 0x735a2d97))))
    (i32x4.mul
      (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $sums) (local.get $sums))
      (v128.const i32x4 0x9e3779b1 0x9e3779b1 0x9e3779b1 0x9e3779b1)))

  (func $allAdded (param $sum i32) (param $sums v128) (result i32)
    (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 0 (local.get $sums))))
    (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 1 (local.get $sums))))
    (local.set $sum (call $added (local.get $sum) (i32x4.extract_lane 2 (local.get $sums))))
    (call $added (local.get $sum) (i32x4.extract_lane 3 (local.get $sums))))

  (func $signless (param $word i32) (result i32)
    (local $rest i32)
    (local.set $rest (i32.and (local.get $word) (i32.const 0x7fffffff)))
    (select (local.get $rest) (local.get $word)
      (i32.or (i32.eq (local.get $rest) (i32.const 0x7ff80000)) (i32.eq (local.get $rest) (i32.const 0x7fc00000)))))

  ;; Where twice the word is twice that of a NaN, its highest bit is taken out.
  (func $fourSignless (param $words v128) (result v128)
    (local $twice v128)
    (local.set $twice (i32x4.shl (local.get $words) (i32.const 1)))
    (v128.andnot (local.get $words)
      (v128.and (v128.const i32x4 0x80000000 0x80000000 0x80000000 0x80000000)
        (v128.or
          (i32x4.eq (local.get $twice) (v128.const i32x4 0xfff00000 0xfff00000 0xfff00000 0xfff00000))
          (i32x4.eq (local.get $twice) (v128.const i32x4 0xff800000 0xff800000 0xff800000 0xff800000))))))

  (func (export "hash") (param $at i32) (param $bytes i32) (result i32)
    (local $sum i32) (local $end i32) (local $wide i32) (local $first i32) (local $last i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $aFirst v128) (local $bFirst v128) (local $cFirst v128) (local $dFirst v128)
    (local $one v128) (local $two v128) (local $three v128) (local $four v128)
    (local $least v128) (local $nan v128) (local $others v128) (local $spread v128) (local $factor v128)
    (local.set $sum (local.get $bytes))
    (local.set $end (i32.add (local.get $at) (local.get $bytes)))
    (local.set $wide (i32.sub (local.get $end) (i32.and (local.get $bytes) (i32.const 63))))
    (if (i32.ne (local.get $at) (local.get $wide))
      (then
        (local.set $a (v128.const i32x4 0x811c9dc5 0x2545f491 0x5bd1e995 0x1b873593))
        (local.set $b (v128.const i32x4 0x165667b1 0x27d4eb2f 0x3c6ef372 0x510e527f))
        (local.set $c (v128.const i32x4 0x6a09e667 0xbb67ae85 0xa54ff53a 0x9b05688c))
        (local.set $d (v128.const i32x4 0x1f83d9ab 0x5be0cd19 0x428a2f98 0x71374491))
        (local.set $spread (i32x4.splat (i32.const 0x735a2d97)))
        (local.set $factor (i32x4.splat (i32.const 0x9e3779b1)))
        ;; Words of NaNs less the first of them are 0 but for these bits.
        (local.set $nan (i32x4.splat (i32.const 0x7fc00000)))
        (local.set $others (i32x4.splat (i32.const 0x7fc7ffff)))
        (loop $nextStretch
          (local.set $first (local.get $at))
          (local.set $last (i32.add (local.get $at) (i32.const 4096)))
          (if (i32.lt_u (i32.sub (local.get $wide) (local.get $at)) (i32.const 4096))
            (then (local.set $last (local.get $wide))))
          (local.set $aFirst (local.get $a))
          (local.set $bFirst (local.get $b))
          (local.set $cFirst (local.get $c))
          (local.set $dFirst (local.get $d))
          (local.set $least (i32x4.splat (i32.const -1)))
          (loop $next
            (local.set $one (v128.load (local.get $at)))
            (local.set $two (v128.load offset=16 (local.get $at)))
            (local.set $three (v128.load offset=32 (local.get $at)))
            (local.set $four (v128.load offset=48 (local.get $at)))
            (local.set $least (i32x4.min_u (local.get $least)
              (v128.and (i32x4.sub (local.get $one) (local.get $nan)) (local.get $others))))
            (local.set $least (i32x4.min_u (local.get $least)
              (v128.and (i32x4.sub (local.get $two) (local.get $nan)) (local.get $others))))
            (local.set $least (i32x4.min_u (local.get $least)
              (v128.and (i32x4.sub (local.get $three) (local.get $nan)) (local.get $others))))
            (local.set $least (i32x4.min_u (local.get $least)
              (v128.and (i32x4.sub (local.get $four) (local.get $nan)) (local.get $others))))
            (local.set $a (i32x4.add (local.get $a) (i32x4.mul (local.get $one) (local.get $spread))))
            (local.set $b (i32x4.add (local.get $b) (i32x4.mul (local.get $two) (local.get $spread))))
            (local.set $c (i32x4.add (local.get $c) (i32x4.mul (local.get $three) (local.get $spread))))
            (local.set $d (i32x4.add (local.get $d) (i32x4.mul (local.get $four) (local.get $spread))))
            (local.set $a (i32x4.mul (local.get $factor)
              (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $a) (local.get $a))))
            (local.set $b (i32x4.mul (local.get $factor)
              (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $b) (local.get $b))))
            (local.set $c (i32x4.mul (local.get $factor)
              (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $c) (local.get $c))))
            (local.set $d (i32x4.mul (local.get $factor)
              (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $d) (local.get $d))))
            (local.set $at (i32.add (local.get $at) (i32.const 64)))
            (br_if $next (i32.ne (local.get $at) (local.get $last))))
          (if (i32.eqz (i32x4.all_true (local.get $least)))
            (then
              (local.set $at (local.get $first))
              (local.set $a (local.get $aFirst))
              (local.set $b (local.get $bFirst))
              (local.set $c (local.get $cFirst))
              (local.set $d (local.get $dFirst))
              (loop $nextAgain
                (local.set $a (call $fourAdded (local.get $a) (call $fourSignless (v128.load (local.get $at)))))
                (local.set $b (call $fourAdded (local.get $b) (call $fourSignless (v128.load offset=16 (local.get $at)))))
                (local.set $c (call $fourAdded (local.get $c) (call $fourSignless (v128.load offset=32 (local.get $at)))))
                (local.set $d (call $fourAdded (local.get $d) (call $fourSignless (v128.load offset=48 (local.get $at)))))
                (local.set $at (i32.add (local.get $at) (i32.const 64)))
                (br_if $nextAgain (i32.ne (local.get $at) (local.get $last))))))
          (br_if $nextStretch (i32.ne (local.get $at) (local.get $wide))))
        (local.set $sum (call $allAdded (local.get $sum) (local.get $a)))
        (local.set $sum (call $allAdded (local.get $sum) (local.get $b)))
        (local.set $sum (call $allAdded (local.get $sum) (local.get $c)))
        (local.set $sum (call $allAdded (local.get $sum) (local.get $d)))))
    (block $noWord
      (loop $nextWord
        (br_if $noWord (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 4)))
        (local.set $sum (call $added (local.get $sum) (call $signless (i32.load align=1 (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 4)))
        (br $nextWord)))
    (block $noByte
      (loop $nextByte
        (br_if $noByte (i32.eq (local.get $at) (local.get $end)))
        (local.set $sum (call $added (local.get $sum) (i32.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $nextByte)))
    ;; splitmix32
    (local.set $sum (i32.mul (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 16))) (i32.const 0x21f0aaad)))
    (local.set $sum (i32.mul (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 15))) (i32.const 0x735a2d97)))
    (i32.xor (local.get $sum) (i32.shr_u (local.get $sum) (i32.const 15)))))
