#pragma once

#include "widgets/common/snapshot.h"

#include <QWidget>

class QLabel;

namespace orrery::app {

/// The answer in one line above the documents: how long, how sure, what bounds it, how much memory.
class Headline : public QWidget {
    Q_OBJECT
public:
    explicit Headline(QWidget* parent = nullptr);
    void setSnapshot(const ui::SnapshotPtr& snapshot);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();
    void fitQuestion();

    QLabel *latency_, *interval_, *doubts_, *facts_, *question_;
};

/// `memory 92 % of time`: what limits most of the time. Empty for an estimate without time.
QString boundText(const Estimate& estimate);

}  // namespace orrery::app
