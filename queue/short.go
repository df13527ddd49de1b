package queue

// enterLocked makes a message known, by its id and by its short one.
func (m *Mailbox) enterLocked(it *item) {
	m.items[it.ID] = it
	if it.ShortID != "" {
		m.short[it.ShortID] = it.ID
	}
}

// dropLocked forgets a message.
func (m *Mailbox) dropLocked(it *item) {
	delete(m.items, it.ID)
	if m.short[it.ShortID] == it.ID {
		delete(m.short, it.ShortID)
	}
}

// shownLocked reports whether the agent knows another message by the id that it would read in this
// one: what its log shows of one would prove the other.
func (m *Mailbox) shownLocked(msg *Message) bool {
	shown := msg.ShownID()
	it := m.items[shown]
	return m.short[shown] != "" || it != nil && it.ShownID() == shown
}

// ShownIDs are the ids that the agent reads in those messages.
func (m *Mailbox) ShownIDs(ids []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	shown := make([]string, len(ids))
	for i, id := range ids {
		if shown[i] = id; m.items[id] != nil {
			shown[i] = m.items[id].ShownID()
		}
	}
	return shown
}

// IDs are the ids of the messages that the agent knows by those.
func (m *Mailbox) IDs(shown []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := make([]string, len(shown))
	for i, id := range shown {
		if ids[i] = id; m.short[id] != "" {
			ids[i] = m.short[id]
		}
	}
	return ids
}
