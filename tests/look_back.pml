/* How a tile's value of several words comes to those that wait for it: gpuscan_sum_store, gpuscan_observe
   and gpuscan_publish_for of kernels.cl.inc. tests/test_look_back.sh gives it to Spin.

   A tile stores its words one after the other and may stop for ever between two of them, as any group may that does
   not run. Waiters look; whoever does not find the value sums the tile's data and publishes that for the tile. Then the
   next call uses the words again, with the next epoch; where these begin anew, the words are cleared before.

   Checked: what a waiter takes is this call's, whole, and made from data that nobody had overwritten; and no waiter
   goes round for ever, even where nobody else runs.

       WORDS     of a value
       IN_PLACE  1: the tile overwrites its data once it has published
       FIRST     1: the tile is its row's first, which publishes a prefix and no aggregate
       FAULT_... rules that are wrong, each of which must be found:
         FAULT_RETURN   a fallback leaves it at that where a first word is there, or gets there before its own
         FAULT_RECHECK  a fallback does not look again after it has summed: in place, a row's first tile
         FAULT_ONE_SLOT a fallback that looks again looks for an aggregate only: the same
         FAULT_WRAP     words are not cleared when the epochs begin anew */
#ifndef WORDS
#define WORDS 2
#endif
#ifndef IN_PLACE
#define IN_PLACE 0
#endif
#ifndef FIRST
#define FIRST 0
#endif

#define EPOCHS  2 /* numbers from 1 on before they begin anew */
#define CALLS   3
#define WAITERS 2

#define AGGREGATE 0 /* slots */
#define PREFIX    1

byte epoch;           /* of the call */
byte call;            /* counts, and stands for the value that the call's data have */
byte data[2];         /* a tile's elements: the call's value, or 0 once overwritten */
byte tag[2 * WORDS];  /* of each slot's words: an epoch; 0: cleared */
byte part[2 * WORDS]; /* and what they hold: the value they were made of */
byte at_work;         /* processes of the call */

inline store(slot, value) {
  p = 0;
  do
  :: p < WORDS -> atomic { tag[slot * WORDS + p] = epoch; part[slot * WORDS + p] = value; p++ }
  :: else -> break
  od
}

/* Whether all words of a slot are there: each is loaded by itself. What they hold must be right by then. */
inline load(slot) {
  there = 1;
  wrong = 0;
  p = 0;
  do
  :: p < WORDS -> atomic {
       if
       :: tag[slot * WORDS + p] != epoch -> there = 0
       :: else -> wrong = wrong || part[slot * WORDS + p] != call
       fi;
       p++
     }
  :: else -> break
  od;
  assert(!there || !wrong)
}

inline observe() {
  load(PREFIX);
  if
  :: !there -> load(AGGREGATE)
  :: else
  fi
}

inline publish_for(value) {
#if defined(FAULT_RETURN) || defined(FAULT_RECHECK)
  there = 0;
#elif defined(FAULT_ONE_SLOT)
  load(AGGREGATE);
#else
  observe();
#endif
  p = 0;
  do
  :: !there && p < WORDS -> /* a load, and a store that may come late */
     seen = tag[AGGREGATE * WORDS + p];
     atomic {
       if
       :: seen != epoch ->
          tag[AGGREGATE * WORDS + p] = epoch;
          part[AGGREGATE * WORDS + p] = value
       :: else
#ifdef FAULT_RETURN
          -> there = p == 0
#endif
       fi;
       p++
     }
  :: else -> break
  od
}

proctype tile() {
  byte p;
#if FIRST
  store(PREFIX, call);
#else
  store(AGGREGATE, call);
  store(PREFIX, call); /* nothing but time lies between */
#endif
#if IN_PLACE
  data[0] = 0;
  data[1] = 0;
#endif
  at_work--
}

proctype waiter() {
  byte p, seen, sum;
  bool there, wrong;
  do
  :: observe();
     if
     :: there -> break
     :: else
     fi;
     sum = data[0];
     sum = (data[1] == sum -> sum : 0);
     publish_for(sum)
  od;
  at_work--
}

init {
  byte i;
  do
  :: call < CALLS ->
     atomic {
       call++;
       data[0] = call;
       data[1] = call;
       if
       :: epoch < EPOCHS -> epoch++
       :: else ->
          epoch = 1;
#ifndef FAULT_WRAP
          for (i : 0 .. 2 * WORDS - 1) {
            tag[i] = 0
          }
#endif
       fi;
       if
       :: at_work = 1 + WAITERS;
          run tile();
          for (i : 1 .. WAITERS) {
            run waiter()
          }
       :: skip /* a call of fewer tiles, which leaves these words as they are */
       fi
     };
     at_work == 0
  :: else -> break
  od
}
