#pragma once

#include "widgets/common/snapshot.h"

#include <QStringList>
#include <QWidget>

class QLabel;

namespace orrery::app {

/// The answer in one line above the documents: how long, how sure, what bounds it, how much memory.
class Headline : public QWidget {
    Q_OBJECT
public:
    explicit Headline(QWidget* parent = nullptr);
    /// `chosen`: the method that a person wants to see, shown or not; empty: the best answer.
    void setSnapshot(const ui::SnapshotPtr& snapshot, const QString& chosen = {});
    /// The page in front says the answer to another question.
    void setAside(bool aside);
    void setLate(const QString& why);  ///< what is shown answers an earlier question; empty: it does not

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void showFailure(const ui::Snapshot& snapshot);
    void restyle();
    void fitQuestion();

    ui::SnapshotPtr snapshot_;
    QString chosen_, late_;
    bool aside_ = false;
    QStringList factList_;  ///< as many of them as there is room for are shown
    QLabel *latency_, *interval_, *doubts_, *facts_, *question_;
};

/// `memory 92 % of time`: what limits most of the time. Empty for an estimate without time.
QString boundText(const Estimate& estimate);

}  // namespace orrery::app
