/*
 * Landmarks, the heights of the stack that are looked up to find stretches that repeat; a part of
 * fold.c.
 *
 * A height has a key, a hash of its topmost LONG items. Its landmark is the least key of the last
 * WINDOW heights. Equal stretches have their landmarks in equal places. So where a stretch of NEAR
 * items and more ends the stack twice in a row, the landmark of its end is there twice, as far
 * apart as the stretch is long. Few heights are landmarks: one in nine where nothing repeats.
 *
 * A landmark may have more likes than are tried. So likes at a distance at which the landmark
 * before had some are tried, too: a stretch goes on repeating at one distance.
 */
enum {
	LONG = 16,                /* items of a key */
	NEAR = 32,                /* items that are compared at once, without landmarks */
	WINDOW = NEAR - LONG + 1, /* heights whose keys are of the last NEAR items */
	EARLIER = 8,              /* likes of a landmark that are tried, newest first */
	SAME_PLACE = 64,          /* landmarks with the same place that are looked at for them */
	GOING_ON = 3,             /* distances of the landmark before that are tried */
	PLACE_BITS = 10,          /* of the places at first */
	FEW = 16,     /* fewer landmarks than one for so many places are taken away one by one */
	FETCHED = 16, /* landmarks ahead whose places are fetched */
};

#define SPREAD_KEY UINT32_C(0x9e3779b1)

struct landmark {
	int32_t height;
	uint32_t key;
	int32_t older; /* number of the next lower one with the same place, or 0 */
	int64_t first; /* of its distances */
};

/* The landmarks of all heights, numbered from 1 upwards. */
struct landmarks {
	uint32_t *key;  /* of each height */
	uint8_t *below; /* how far below each height its landmark is */
	struct landmark *landmark;
	int32_t count;
	/*
	 * Newest landmark of each place. A word has the number in its lowest `bits`. Each of the
	 * other bits marks keys: no landmark with this place has a key whose mark is missing.
	 */
	uint32_t *newest;
	int bits;
	/* How far below each landmark its likes are. */
	int32_t *distance;
	int64_t distances, room;
	/* The highest like ever found that does not go on at the distance of one before. */
	int32_t highest;
	int32_t run_distance, run_highest; /* the latest such distance, and its highest like */
	bool failed;                       /* no memory */
};

static uint32_t *place_of(const struct landmarks *l, uint32_t key)
{
	return &l->newest[key * SPREAD_KEY >> (32 - l->bits)];
}

static uint32_t mark_of(const struct landmarks *l, uint32_t key)
{
	uint64_t marks = (uint64_t)(32 - l->bits);

	return 1u << (l->bits + (int)((uint32_t)(key * SPREAD_KEY << l->bits) * marks >> 32));
}

/* Puts a landmark into its place; returns whether there may be a like. */
static bool put_landmark(struct landmarks *l, int32_t number)
{
	struct landmark *landmark = &l->landmark[number];
	uint32_t *word = place_of(l, landmark->key), numbers = (1u << l->bits) - 1;
	uint32_t mark = mark_of(l, landmark->key);
	bool marked = *word & mark;

	landmark->older = (int32_t)(*word & numbers);
	*word = (*word & ~numbers) | mark | (uint32_t)number;
	return marked;
}

/* Puts landmarks into empty places. */
static void put_landmarks(struct landmarks *l)
{
	int32_t number;

	for (number = 1; number <= l->count; number++) {
		if (number + FETCHED <= l->count)
			__builtin_prefetch(place_of(l, l->landmark[number + FETCHED].key), 1);
		put_landmark(l, number);
	}
}

static void take_landmark(struct landmarks *l)
{
	const struct landmark *landmark = &l->landmark[l->count--];
	uint32_t *word = place_of(l, landmark->key), numbers = (1u << l->bits) - 1;

	*word = landmark->older ? (*word & ~numbers) | (uint32_t)landmark->older : 0;
}

/* Takes those away that are above a height and its landmark. */
static void take_landmarks(struct landmarks *l, int32_t height)
{
	int32_t last = height < LONG ? 0 : height - l->below[height], left = l->count;

	while (left && l->landmark[left].height > last)
		left--;
	if (l->count > left)
		l->distances = l->landmark[left + 1].first;
	if (l->count - left > left + (1 << l->bits) / FEW) {
		memset(l->newest, 0, sizeof(*l->newest) << l->bits);
		l->count = left;
		put_landmarks(l);
	}
	while (l->count > left) {
		if (l->count - left > FETCHED)
			__builtin_prefetch(place_of(l, l->landmark[l->count - FETCHED].key), 1);
		take_landmark(l);
	}
}

/* Makes room for twice as many landmarks; those that are there stay when there is no memory. */
static void widen_places(struct landmarks *l)
{
	uint32_t *wider = in_large_pages(sizeof(*wider) << (l->bits + 1), true);

	if (!wider) {
		l->failed = true;
		return;
	}
	free(l->newest);
	l->newest = wider;
	l->bits++;
	put_landmarks(l);
}

static int32_t highest_but(const struct landmarks *l, int32_t distance)
{
	if (l->run_distance != distance && l->run_highest > l->highest)
		return l->run_highest;
	return l->highest;
}

static void note_highest(struct landmarks *l, int32_t height, int32_t distance)
{
	if (l->run_distance != distance) {
		l->highest = highest_but(l, distance);
		l->run_distance = distance;
		l->run_highest = 0;
	}
	if (height > l->run_highest)
		l->run_highest = height;
}

/* Notes how far below the newest landmark a like is, once. */
static void add_distance(struct landmarks *l, const struct landmark *landmark, int32_t distance)
{
	int32_t height = landmark->height - distance;
	int64_t i;

	for (i = landmark->first; i < l->distances; i++)
		if (l->distance[i] == distance)
			return;
	note_highest(l, height, distance);
	l->distance[l->distances++] = distance;
}

/* Finds likes of the newest landmark; there is room for their distances. */
static void find_likes(struct landmarks *l, bool marked)
{
	const struct landmark *landmark = &l->landmark[l->count];
	int64_t going_on = 0, i = landmark[-1].first;
	int32_t older, likes = 0, looks = 0;

	for (; i < landmark->first && going_on < GOING_ON; i++) {
		int32_t below = landmark->height - l->distance[i];

		if (below >= LONG && l->key[below] == landmark->key) {
			l->distance[l->distances++] = l->distance[i];
			going_on++;
		}
	}
	older = marked ? landmark->older : 0;
	for (; older && likes < EARLIER && looks < SAME_PLACE; looks++) {
		if (l->landmark[older].key == landmark->key) {
			add_distance(l, landmark, landmark->height - l->landmark[older].height);
			likes++;
		}
		older = l->landmark[older].older;
	}
	if ((older || going_on == GOING_ON) && landmark->height > l->highest)
		l->highest = landmark->height; /* there may be others */
}

static void add_landmark(struct landmarks *l, int32_t height)
{
	if ((l->count + 1) >> l->bits)
		widen_places(l);
	if (!grow((void **)&l->distance, &l->room, l->distances + GOING_ON + EARLIER,
		  sizeof(*l->distance)))
		l->failed = true;
	if (l->failed)
		return;
	l->landmark[++l->count] = (struct landmark){height, l->key[height], 0, l->distances};
	find_likes(l, put_landmark(l, l->count));
}

/* Returns the landmark of a height whose key is known. */
static int32_t landmark_of(const struct landmarks *l, int32_t height)
{
	const uint32_t *key = l->key;
	int32_t least, i;

	if (height == LONG)
		return height;
	least = height - 1 - l->below[height - 1];
	if (key[height] <= key[least])
		return height;
	if (least > height - WINDOW)
		return least;
	for (i = ++least; i <= height; i++)
		if (key[i] <= key[least])
			least = i;
	return least;
}

/* Notes the key of the next height. */
static void note_height(struct landmarks *l, int32_t height, uint32_t key)
{
	int32_t landmark;

	l->key[height] = key;
	landmark = landmark_of(l, height);
	l->below[height] = (uint8_t)(height - landmark);
	if (l->landmark[l->count].height < landmark)
		add_landmark(l, landmark);
}

static bool landmarks_new(struct landmarks *l, size_t heights)
{
	l->key = in_large_pages((heights + 1) * sizeof(*l->key), false);
	l->below = in_large_pages((heights + 1) * sizeof(*l->below), false);
	l->landmark = in_large_pages((heights + 1) * sizeof(*l->landmark), false);
	l->bits = PLACE_BITS;
	l->newest = calloc((size_t)1 << l->bits, sizeof(*l->newest));
	if (!l->key || !l->below || !l->landmark || !l->newest)
		return false;
	l->landmark[0] = (struct landmark){0};
	return true;
}

static void landmarks_free(struct landmarks *l)
{
	free(l->key);
	free(l->below);
	free(l->landmark);
	free(l->newest);
	free(l->distance);
	memset(l, 0, sizeof(*l));
}
