#pragma once

// A copy of unsaved work in the state folder, so that a crash costs a second. Each running studio holds a lock beside
// its copy; a copy whose lock nobody holds belongs to one that died. The copy is whole at any moment: a write replaces
// it as one step.

#include "app/document/background.h"
#include "base/diagnostic.h"

#include <QLockFile>
#include <QObject>
#include <QTimer>

#include <chrono>
#include <memory>
#include <vector>

namespace orrery::app {

class Document;

/// Work that a studio left behind.
struct Recovery {
    QString copy;      ///< the autosaved project
    QString original;  ///< the file that it belongs to; empty if it was never saved
    QString when;      ///< local date and time, for people
};

class Autosave : public QObject {
    Q_OBJECT
public:
    Autosave(Document& document, QString folder, QObject* parent = nullptr);
    ~Autosave() override;

    /// From an edit to the beginning of the write that holds it; edits meanwhile come along. A person loses less than
    /// twice that.
    static constexpr std::chrono::milliseconds delay{500};

    void setEnabled(bool enabled);
    void writeNow();  ///< does nothing if there is nothing unsaved; writes on another thread
    void waitForWrite();
    void forget();  ///< the unsaved work is given up: removes the copy and writes no more
    const QString& copyFile() const { return copy_; }

    /// Copies in the folder whose studio is gone, newest first.
    static std::vector<Recovery> abandoned(const QString& folder);
    /// Forgets one after it was recovered or refused.
    static void discard(const Recovery& recovery);

signals:
    void failed(const orrery::Diagnostic& why);  ///< once, until a copy could be written again

private:
    void writeWhenFree();
    void removeCopy();

    Document& document_;
    QString folder_, copy_;
    std::unique_ptr<QLockFile> lock_;
    QTimer timer_;
    bool enabled_ = true;
    bool due_ = false;      ///< an edit came while a write was under way: the next follows it
    bool refused_ = false;  ///< the last write failed, and that was said
    quint64 written_ = 0;
    Background write_;
};

}  // namespace orrery::app
