// SPDX-License-Identifier: MIT
#ifndef SIGNALS_H
#define SIGNALS_H

#include "lib/files/caused_signals.h"

// Threads that are made meanwhile leave signals to others, except for those that they cause.
class NoSignals
{
      public:
	NoSignals()
	{
		ferry__block_signals(&before_);
	}

	~NoSignals()
	{
		pthread_sigmask(SIG_SETMASK, &before_, nullptr);
	}

	NoSignals(const NoSignals &) = delete;
	NoSignals &operator=(const NoSignals &) = delete;

      private:
	sigset_t before_;
};

#endif // SIGNALS_H
